// Show the page that the part of the address after # names; keys; dark and light.

import { method, skipped } from "./about.js";
import { index } from "./data.js";
import { byId, targetIn } from "./elements.js";
import { trimmed } from "./format.js";
import { overview } from "./overview.js";
import { closePair, currentPair, pair } from "./pair.js";
import { showAllRows } from "./pair_table.js";
import { additions, main } from "./parts.js";
import { store, stored } from "./storage.js";
import { submission, submissions } from "./submissions.js";
import { exportVerdicts, importVerdicts } from "./verdicts.js";
import { openVisit } from "./visits.js";

/** @type {Map<string, (n: number) => void>} */
const PAGES = new Map(Object.entries({ "": overview, submissions, skipped, method, submission, pair }));
/** How many pages there are of those with a number. */
const COUNTS = new Map(Object.entries({ submission: index.submissions.length, pair: index.pairs.length }));
/** The navigation link to highlight for a page that has no link of its own. */
const LINKS = new Map(Object.entries({ submission: "submissions", pair: "" }));
/** How many matches a key moves on. */
const KEYS = new Map(Object.entries({ n: 1, ArrowRight: 1, p: -1, ArrowLeft: -1 }));

/** Show the page of the address; an unknown address shows the overview. */
function showPage() {
  const [, page = "", number = ""] = location.hash.split("/");
  const count = COUNTS.get(page);
  const isKnown = count === undefined || (/^\d+$/.test(number) && Number(number) < count);
  const name = isKnown && PAGES.has(page) ? page : "";
  closePair();
  const visit = openVisit();
  main.replaceChildren();
  main.className = name || "overview";
  document.body.classList.toggle("fixed", name === "pair");
  for (const link of document.querySelectorAll(".top nav a")) {
    if (link.getAttribute("href") === "#/" + (LINKS.get(name) ?? name)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  PAGES.get(name)?.(Number(number));
  additions.get(name)?.(Number(number));
  window.scrollTo(0, visit.scroll);
  const title = main.querySelector("h1")?.textContent ?? "";
  document.title = trimmed(name ? `${title} – Chaffinch` : "Chaffinch report", 120);
}

const darkMode = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : darkMode.matches;
}

/** @param {string | null} [chosen] */
function setTheme(chosen) {
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  byId("theme").textContent = isDark() ? "☀" : "☾";
  currentPair()?.redrawMaps();
}

/** Tell whether a key scrolls long lines sideways. @param {KeyboardEvent} event */
function scrollsSideways(event) {
  const scroller = event.key.startsWith("Arrow") ? targetIn(event, ".scroller") : null;
  return scroller !== null && scroller.scrollWidth > scroller.clientWidth;
}

document.addEventListener("keydown", (event) => {
  const isTyping = targetIn(event, "input:not([type=checkbox]), select");
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  const search = document.getElementById("search");
  const by = KEYS.get(event.key);
  if (event.key === "/" && search) {
    event.preventDefault();
    search.focus();
  } else if (by && currentPair() && !scrollsSideways(event)) {
    event.preventDefault();
    currentPair()?.step(by);
  }
});
byId("theme").addEventListener("click", () => {
  const chosen = isDark() ? "light" : "dark";
  store("theme", chosen);
  setTheme(chosen);
});
const fileInput = /** @type {HTMLInputElement} */ (byId("import"));
byId("export").addEventListener("click", exportVerdicts);
byId("choose").addEventListener("click", () => fileInput.click());
fileInput.addEventListener("change", async () => {
  const [file] = fileInput.files ?? [];
  if (file) await importVerdicts(file);
  fileInput.value = "";
  showPage();
});
darkMode.addEventListener("change", () => setTheme());
window.addEventListener("hashchange", () => {
  showPage();
  main.focus({ preventScroll: true });
});
window.addEventListener("beforeprint", showAllRows);
setTheme(stored("theme"));
showPage();
