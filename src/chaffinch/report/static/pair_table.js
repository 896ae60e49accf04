// A table of pairs that you can sort.

/** @import { Column } from "./types" */
import { index } from "./data.js";
import { make, targetIn } from "./elements.js";
import { decimal, grouped, percent } from "./format.js";
import { bar, submissionLink } from "./parts.js";
import { verdictFields } from "./verdicts.js";
import { FIRST_ROWS, currentVisit } from "./visits.js";

/** @type {Column[]} */
const COLUMNS = [
  { title: "#", value: (_, n) => n, kind: "rank" },
  { title: "Left", value: (pair) => index.submissions[pair.left].name, kind: "submission-cell" },
  { title: "Right", value: (pair) => index.submissions[pair.right].name, kind: "submission-cell" },
  { title: "Score", value: (pair) => pair.score, kind: "num", term: "score" },
  { title: "Left in matches", value: (pair) => pair.coverage[0], show: percent, kind: "num", term: "coverage" },
  { title: "Right in matches", value: (pair) => pair.coverage[1], show: percent, kind: "num", term: "coverage" },
  { title: "Surprise", value: (pair) => pair.surprise, show: decimal, kind: "num", term: "surprise" },
  { title: "Longest run", value: (pair) => pair.longest, show: grouped, kind: "num" },
  { title: "Symbols", value: (pair) => pair.symbols, show: grouped, kind: "num" },
  { title: "Fingerprints", value: (pair) => pair.fingerprints, show: grouped, kind: "num" },
  { title: "Matches", value: (pair) => pair.matches, show: grouped, kind: "num" },
];

let order = { column: 0, isDescending: false }; // as the report ranks them
let showAll = () => {};

/** Show every row of the table on the page, for printing. */
export const showAllRows = () => showAll();

/** @param {string | number | null} a @param {string | number | null} b */
function compareValues(a, b) {
  if (typeof a === "string" && typeof b === "string") return a.localeCompare(b);
  return Number(a ?? Infinity) - Number(b ?? Infinity) || 0;
}

/** Sort pairs in the chosen order; equal ones stay in the order of the report. @param {number[]} numbers */
function sorted(numbers) {
  const { value } = COLUMNS[order.column];
  const sign = order.isDescending ? -1 : 1;
  return [...numbers].sort(
    (a, b) => sign * compareValues(value(index.pairs[a], a), value(index.pairs[b], b)) || a - b,
  );
}

/** @param {number} n */
function pairRow(n) {
  const pair = index.pairs[n];
  const href = "#/pair/" + n;
  const numbers = COLUMNS.flatMap(({ title, value, show }) =>
    show ? [make("td", { class: "num", "data-label": title }, show(value(pair)))] : [],
  );
  const row = make(
    "tr",
    {},
    make("td", { class: "rank" }, make("a", { href, "aria-label": "Open pair " + (n + 1) }, String(n + 1))),
    make("td", { class: "submission-cell" }, submissionLink(pair.left)),
    make("td", { class: "submission-cell" }, submissionLink(pair.right)),
    make("td", { class: "score", "data-label": "Score" }, bar(pair.score, percent(pair.score))),
    ...numbers,
    make("td", { class: "review" }, verdictFields(pair)),
  );
  row.addEventListener("click", (event) => {
    if (!targetIn(event, "a, select, input") && !getSelection()?.toString()) location.hash = href;
  });
  return row;
}

/** Build a table of pairs; `show` puts other pairs into it. @param {number[]} numbers */
export function pairTable(numbers) {
  const body = make("tbody");
  const heads = COLUMNS.map(({ title, kind, term }, at) => {
    const hint = term ? `${title}: ${index.words[term]}` : null;
    const button = make("button", { title: hint, onclick: () => sortBy(at) }, title);
    return make("th", { scope: "col", class: kind, "data-title": title }, button);
  });
  const more = make("button", { class: "more" });
  let listed = numbers;
  /** @param {number} column */
  function sortBy(column) {
    const isDescending = order.column === column ? !order.isDescending : COLUMNS[column].kind === "num";
    order = { column, isDescending };
    show(listed);
  }
  /** @param {number[]} wanted @param {number} [limit] */
  function show(wanted, limit = FIRST_ROWS) {
    listed = wanted;
    currentVisit().rows = limit;
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[order.column].setAttribute("aria-sort", order.isDescending ? "descending" : "ascending");
    body.replaceChildren(...sorted(wanted).slice(0, limit).map(pairRow));
    if (!wanted.length)
      body.append(make("tr", { class: "empty" }, make("td", { colspan: COLUMNS.length + 1 }, "No pair fits your search.")));
    more.hidden = wanted.length <= limit;
    more.textContent = `Show more of ${grouped(wanted.length)} pairs`;
    more.onclick = () => show(listed, limit + 5 * FIRST_ROWS);
  }
  show(numbers, currentVisit().rows);
  showAll = () => body.isConnected && show(listed, listed.length);
  const head = make("thead", {}, make("tr", {}, heads, make("th", { class: "review" }, "Verdict and note")));
  const frame = make("div", { class: "frame" }, make("table", { class: "pairs" }, head, body), more);
  return { frame, show };
}
