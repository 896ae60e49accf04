// The overview: charts of the whole class, and all pairs in a table that you can search.

import { clusterGraph, histogram } from "./charts.js";
import { index } from "./data.js";
import { make } from "./elements.js";
import { counted, grouped } from "./format.js";
import { pairTable } from "./pair_table.js";
import { card, glossary, intro, main, notice, searchField } from "./parts.js";
import { verdictOf, verdictOptions } from "./verdicts.js";
import { currentVisit } from "./visits.js";

/** What you searched for; it stays when you come back. */
let query = "";
/** @type {string | null} */
let verdictQuery = null;

export function overview() {
  const current = index.submissions.filter((submission) => !submission.old).length;
  const earlier = index.submissions.length - current;
  const empty = index.submissions.filter((submission) => submission.isEmpty).length;
  const facts = [
    counted(current, "submission") + (empty ? `, ${empty} with nothing to compare` : ""),
    earlier ? counted(earlier, "earlier submission") : "",
    counted(index.pairs.length, "pair") + " listed",
    counted(index.clusters.length, "cluster"),
    index.receipt.sort ? "sorted by " + index.receipt.sort : "",
  ];
  const none = "No pair is listed. No two submissions share more than base code and what is usual in this class.";
  main.append(intro("Pairs with something in common", ...facts));
  if (index.pairs.length) main.append(glossary(), charts(), ...searchableTable());
  else main.append(charts(), notice(none));
}

function charts() {
  const place = make("div", { class: "charts" });
  const counts = index.background.reduce((sum, n) => sum + n, 0);
  const total = Math.max(index.pairs.length, counts);
  if (total) {
    const { background } = index.receipt;
    const all = `${counted(total, "pair")} in all, on a logarithmic scale${background ? "; " + background : ""}`;
    const entries = [legendEntry("all", all), index.pairs.length ? legendEntry("listed", "listed below") : null];
    place.append(card("Scores", "", make("p", { class: "hint legend" }, entries), histogram()));
  }
  if (index.graph.nodes.length) {
    const hint =
      "Each dot is a submission and each line a pair. Thicker lines mean higher scores. Click one to open it.";
    place.append(card("Clusters", hint, make("div", { class: "scrolling" }, clusterGraph())));
  }
  return place;
}

/** @param {string} colour @param {string} text */
const legendEntry = (colour, text) => make("span", {}, make("span", { class: "swatch " + colour }), text);

function searchableTable() {
  const all = index.pairs.map((_, n) => n);
  const { rows } = currentVisit();
  const { frame, show } = pairTable(all);
  const count = make("span", { class: "hint" });
  /** @param {number} n */
  const names = (n) => {
    const { left, right } = index.pairs[n];
    return `${index.submissions[left].name}\n${index.submissions[right].name}`.toLocaleLowerCase();
  };
  /** @param {number} [limit] */
  const filter = (limit) => {
    query = search.value;
    verdictQuery = verdict.value === "any" ? null : verdict.value;
    const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const wanted = all.filter(
      (n) =>
        words.every((word) => names(n).includes(word)) &&
        (verdictQuery === null || verdictOf(index.pairs[n]).verdict === verdictQuery),
    );
    count.textContent = wanted.length < all.length ? `${grouped(wanted.length)} of ${grouped(all.length)}` : "";
    show(wanted, limit);
  };
  const search = searchField(query, () => filter());
  const anyVerdict = make("option", { value: "any" }, "any verdict");
  const properties = { "aria-label": "Verdicts shown", onchange: () => filter() };
  const verdict = make("select", properties, anyVerdict, verdictOptions(verdictQuery));
  if (query || verdictQuery !== null) filter(rows);
  return [make("div", { class: "tools" }, search, verdict, count), frame];
}
