// Which page is shown, by what stands behind the # of the address; keys; dark and light.

const PAGES = { "": overview, submissions, "left-out": leftOut, method, student, pair: pairPage };
const LISTS = { student: "submissions", pair: "pairs" };

function go() {
  const [, page = "", number = ""] = location.hash.split("/");
  const list = LISTS[page];
  const isKnown =
    Object.hasOwn(PAGES, page) && (!list || (/^\d+$/.test(number) && Number(number) < index[list].length));
  const shown = isKnown ? page : "";
  current = null;
  main.replaceChildren();
  main.className = shown || "overview";
  document.body.classList.toggle("fixed", shown === "pair");
  for (const link of document.querySelectorAll(".top nav a")) {
    const isHere =
      link.getAttribute("href") === "#/" + shown || (shown === "pair" && link.getAttribute("href") === "#/");
    link.toggleAttribute("aria-current", isHere);
  }
  window.scrollTo(0, 0);
  PAGES[shown](Number(number));
  const title = main.querySelector("h1")?.textContent || "";
  document.title = trimmed(shown ? `${title} – Chaffinch` : "Chaffinch report", 120);
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function theme(chosen) {
  if (chosen) document.documentElement.dataset.theme = chosen;
  document.getElementById("theme").textContent = isDark() ? "☀" : "☾";
  if (current) current.recolour();
}

const KEYS = { n: 1, ArrowRight: 1, p: -1, ArrowLeft: -1 };

document.addEventListener("keydown", (event) => {
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    event.target.closest("input:not([type=checkbox]), select")
  )
    return;
  if (event.key === "/" && document.getElementById("search")) {
    event.preventDefault();
    document.getElementById("search").focus();
  } else if (current && Object.hasOwn(KEYS, event.key)) {
    event.preventDefault();
    current.step(KEYS[event.key]);
  }
});
document.getElementById("theme").addEventListener("click", () => {
  const chosen = isDark() ? "light" : "dark";
  kept.set("theme", chosen);
  theme(chosen);
});
document.getElementById("export").addEventListener("click", exportVerdicts);
document.getElementById("choose").addEventListener("click", () => document.getElementById("import").click());
document.getElementById("import").addEventListener("change", async (event) => {
  if (event.target.files.length) await importVerdicts(event.target.files[0]);
  event.target.value = "";
  go();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme());
window.addEventListener("hashchange", go);
theme(["dark", "light"].includes(kept.get("theme")) ? kept.get("theme") : undefined);
go();
