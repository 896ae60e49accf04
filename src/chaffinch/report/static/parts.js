// Parts that several pages share.

/** @import { Child, Term } from "./types" */
import { index } from "./data.js";
import { make } from "./elements.js";
import { grouped, visible } from "./format.js";

/**
 * Return the name of a submission as it is shown.
 * @param {number} n
 */
export const nameOf = (n) => visible(index.submissions[n].name) || "(no name)";

/**
 * Link to a submission, and say if it is earlier work. Its letters cannot reorder the text around it.
 * @param {number} n
 * @returns {Child[]}
 */
export function submissionLink(n) {
  const name = nameOf(n);
  const link = make("a", { href: "#/submission/" + n, title: name, class: "name" }, make("bdi", {}, name));
  return index.submissions[n].old ? [link, make("small", {}, " earlier")] : [link];
}

/**
 * @param {number} share
 * @param {string} text
 */
export function bar(share, text) {
  const filled = make("span", { class: "fill" });
  filled.style.width = Math.round(Math.min(1, Math.max(0, share)) * 100) + "%";
  return make("span", { class: "bar" }, make("span", { class: "track" }, filled), make("span", {}, text));
}

/**
 * @param {string} title
 * @param {string} hint
 * @param {...(Child | Child[])} content
 */
export function card(title, hint, ...content) {
  return make(
    "section",
    { class: "card" },
    make("h2", {}, title),
    hint ? make("p", { class: "hint" }, hint) : null,
    ...content,
  );
}

/**
 * Build the head of a page: its title, and facts in one line.
 * @param {Child} title
 * @param {string[]} facts
 */
export function intro(title, ...facts) {
  const line = facts.filter(Boolean).join(" · ");
  return make(
    "div",
    { class: "intro" },
    make("h1", {}, title),
    line ? make("p", { class: "facts" }, line) : null,
  );
}

/** Explain the figures. */
export function glossary() {
  /** @type {Term[]} */
  const terms = ["score", "coverage", "surprise"];
  return make(
    "dl",
    { class: "glossary" },
    terms.map((term) =>
      make("div", {}, make("dt", {}, term[0].toUpperCase() + term.slice(1)), make("dd", {}, index.words[term])),
    ),
  );
}

/**
 * Build a plain table.
 * @param {string[]} titles
 * @param {(Child | Child[] | number)[][]} rows
 * @param {string} [kind]
 */
export function listing(titles, rows, kind = "") {
  const head = make(
    "tr",
    {},
    titles.map((title) => make("th", { scope: "col" }, title)),
  );
  const body = rows.map((row) =>
    make(
      "tr",
      {},
      row.map((cell, column) =>
        typeof cell === "number"
          ? make("td", { "data-label": titles[column], class: "num" }, grouped(cell))
          : make("td", { "data-label": titles[column] }, cell),
      ),
    ),
  );
  const table = make("table", { class: "list " + kind }, make("thead", {}, head), make("tbody", {}, body));
  return make("div", { class: "frame" }, table);
}
