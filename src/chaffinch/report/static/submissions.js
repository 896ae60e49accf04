// The list of submissions, and the page of one submission.

/** @import { SourceFile } from "./types" */
import { index } from "./data.js";
import { make } from "./elements.js";
import { counted, fileSize, percent } from "./format.js";
import { pairTable } from "./pair_table.js";
import { bar, bdi, card, chips, intro, listing, main, nameOf, notice, searchField, submissionLink } from "./parts.js";

export function submissions() {
  const pairs = index.submissions.map(() => ({ count: 0, highest: 0 }));
  for (const { left, right, score } of index.pairs) {
    for (const submission of [pairs[left], pairs[right]]) {
      submission.count += 1;
      submission.highest = Math.max(submission.highest, score);
    }
  }
  const rows = index.submissions.map(({ files, isEmpty }, n) => {
    const { count, highest } = pairs[n];
    const score = count ? bar(highest, percent(highest)) : isEmpty ? "nothing to compare" : "–";
    return [make("span", {}, submissionLink(n)), files.length, count, score];
  });
  const table = listing(["Submission", "Files", "Pairs", "Highest score"], rows, "wide");
  const search = searchField("", () => {
    const query = search.value.toLocaleLowerCase();
    for (const [n, row] of table.querySelectorAll("tbody tr").entries())
      row.toggleAttribute("hidden", !index.submissions[n].name.toLocaleLowerCase().includes(query));
  });
  main.append(make("h1", {}, "Submissions"), make("div", { class: "tools" }, search), table);
}

/** @param {number} n */
export function submission(n) {
  const { files, old, covered, isEmpty } = index.submissions[n];
  const pairs = index.pairs.flatMap(({ left, right }, at) => (left === n || right === n ? [at] : []));
  const facts = [
    old ? "earlier work" : "",
    counted(files.length, "file"),
    isEmpty ? "nothing to compare" : counted(pairs.length, "pair"),
    covered === undefined ? "" : `${percent(covered)} of it is in matches with other submissions`,
  ];
  const rows = files.map((file) => [
    bdi(file.name, "file"),
    kindOf(file),
    fileSize(file.bytes) + (file.isText ? " of text" : ""),
    make("code", { class: "hash" }, file.sha256),
  ]);
  main.append(
    intro(bdi(nameOf(n)), ...facts),
    ...clusterOf(n),
    make("h2", {}, "Pairs"),
    pairs.length ? pairTable(pairs).frame : notice("This submission is in no listed pair."),
    make("h2", {}, "Files"),
    listing(["File", "Kind", "Size", "SHA-256"], rows),
  );
}

/** Show the cluster of a submission, if it is in one. @param {number} n */
function clusterOf(n) {
  const number = index.clusters.findIndex(({ members }) => members.includes(n));
  if (number < 0) return [];
  const { members, score } = index.clusters[number];
  const others = members.filter((other) => other !== n);
  const size = counted(others.length, "other submission");
  const hint = `With ${size}. The highest score in this cluster is ${percent(score)}.`;
  return [card(`Cluster ${number + 1}`, hint, chips(others.map(submissionLink)))];
}

/** @param {SourceFile} file */
const kindOf = ({ language, format }) => [...new Set([language, format])].filter(Boolean).join(", ") || "–";
