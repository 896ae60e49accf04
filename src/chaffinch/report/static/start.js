// Which page is shown, by what stands behind the # of the address; keys; dark and light.

const PAGES = { "": overview, submissions, "left-out": leftOut, method, student, pair: pairPage };
const LISTS = { student: "submissions", pair: "pairs" };

/** How far each page in the history was scrolled, and how many rows it had. */
const visits = new Map();
let visitNow = null;

function visited() {
  const id = history.state?.visit;
  if (!visits.has(id)) {
    visitNow = visits.size + 1;
    visits.set(visitNow, { scroll: 0, rows: ROWS });
    history.replaceState({ visit: visitNow }, "");
  } else visitNow = id;
  return visits.get(visitNow);
}

window.addEventListener("scroll", () => visits.get(visitNow) && (visits.get(visitNow).scroll = window.scrollY), {
  passive: true,
});

function go() {
  const [, page = "", number = ""] = location.hash.split("/");
  const list = LISTS[page];
  const isKnown =
    Object.hasOwn(PAGES, page) && (!list || (/^\d+$/.test(number) && Number(number) < index[list].length));
  const shown = isKnown ? page : "";
  current = null;
  const visit = visited();
  main.replaceChildren();
  main.className = shown || "overview";
  document.body.classList.toggle("fixed", shown === "pair");
  for (const link of document.querySelectorAll(".top nav a")) {
    const under = { pair: "", student: "submissions" }[shown] ?? shown;
    const isHere = link.getAttribute("href") === "#/" + under;
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  rows = visit.rows;
  PAGES[shown](Number(number));
  window.scrollTo(0, visit.scroll);
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

/** Whether a key moves long lines sideways. */
function scrolls(event) {
  const scroller = event.key.startsWith("Arrow") && event.target.closest(".scroller");
  return scroller && scroller.scrollWidth > scroller.clientWidth;
}

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
  } else if (current && Object.hasOwn(KEYS, event.key) && !scrolls(event)) {
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
history.scrollRestoration = "manual";
window.addEventListener("hashchange", () => {
  go();
  main.focus({ preventScroll: true });
});
window.addEventListener("beforeprint", () => allRows?.());
theme(["dark", "light"].includes(kept.get("theme")) ? kept.get("theme") : undefined);
go();
