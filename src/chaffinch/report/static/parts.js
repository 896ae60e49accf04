// Parts that several pages share.

/** @import { Child, Children, Term } from "./types" */
import { index } from "./data.js";
import { byId, make } from "./elements.js";
import { grouped, visible } from "./format.js";

/** Where the pages are shown. */
export const main = byId("main");

/** What optional scripts add to a page after it is built, by page. @type {Map<string, (n: number) => void>} */
export const additions = new Map();

let hideLater = 0;

/** Show a message at the bottom of the window for a few seconds. @param {string} text */
export function showMessage(text) {
  const message = byId("message");
  message.textContent = text;
  message.classList.add("shown");
  clearTimeout(hideLater);
  hideLater = window.setTimeout(() => message.classList.remove("shown"), 5000);
}

/** Return the name of a submission as it is shown. @param {number} n */
export const nameOf = (n) => visible(index.submissions[n].name) || "(no name)";

/** Show a name whose letters cannot reorder the text around it. @param {string} name @param {string} [kind] */
export const bdi = (name, kind) => make("bdi", { class: kind }, visible(name));

/** Link to a submission, and say if it is earlier work. @param {number} n @returns {Child[]} */
export function submissionLink(n) {
  const name = nameOf(n);
  const link = make("a", { href: "#/submission/" + n, title: name, class: "name" }, bdi(name));
  return index.submissions[n].old ? [link, make("small", {}, " earlier")] : [link];
}

/** @param {number} share @param {string} text */
export function bar(share, text) {
  const filled = make("span", { class: "fill" });
  filled.style.width = Math.round(Math.min(1, Math.max(0, share)) * 100) + "%";
  return make("span", { class: "bar" }, make("span", { class: "track" }, filled), make("span", {}, text));
}

/** @param {string} text */
export const notice = (text) => make("p", { class: "notice" }, text);

/** @param {Children} items */
export function chips(items) {
  const elements = items.map((item) => make("li", {}, item));
  return make("ul", { class: "chips" }, elements);
}

/** @param {string} title @param {string} hint @param {Children} content */
export function card(title, hint, ...content) {
  const explanation = hint ? make("p", { class: "hint" }, hint) : null;
  return make("section", { class: "card" }, make("h2", {}, title), explanation, ...content);
}

/** Build the head of a page: its title, and facts in one line. @param {Child} title @param {string[]} facts */
export function intro(title, ...facts) {
  const line = facts.filter(Boolean).join(" · ");
  return make("div", { class: "intro" }, make("h1", {}, title), line ? make("p", { class: "facts" }, line) : null);
}

/** Build the field to search names with. @param {string} value @param {() => void} oninput */
export function searchField(value, oninput) {
  const words = { placeholder: "Search names", title: "Search names (key: /)", "aria-label": "Search" };
  return make("input", { type: "search", id: "search", ...words, value, oninput });
}

/** List terms and what they mean. @param {string} kind @param {[string, Child][]} entries */
export function definitions(kind, entries) {
  const rows = entries.map(([term, meaning]) => make("div", {}, make("dt", {}, term), make("dd", {}, meaning)));
  return make("dl", { class: kind }, rows);
}

/** Explain the figures. */
export function glossary() {
  const terms = /** @type {Term[]} */ (["score", "coverage", "surprise"]);
  return definitions(
    "glossary",
    terms.map((term) => [term[0].toUpperCase() + term.slice(1), index.words[term]]),
  );
}

/** Build a plain table. @param {string[]} titles @param {(Child | number)[][]} rows @param {string} [kind] */
export function listing(titles, rows, kind = "") {
  const heads = titles.map((title) => make("th", { scope: "col" }, title));
  /** @param {Child | number} cell @param {number} column */
  const cellOf = (cell, column) =>
    typeof cell === "number"
      ? make("td", { "data-label": titles[column], class: "num" }, grouped(cell))
      : make("td", { "data-label": titles[column] }, cell);
  const body = rows.map((row) => make("tr", {}, ...row.map(cellOf)));
  const head = make("thead", {}, make("tr", {}, heads));
  return make("div", { class: "frame" }, make("table", { class: "list " + kind }, head, make("tbody", {}, body)));
}
