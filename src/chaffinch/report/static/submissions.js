// The list of submissions, and the page of one submission.

/** @import { SourceFile } from "./types" */
import { index } from "./data.js";
import { make } from "./elements.js";
import { counted, fileSize, percent, visible } from "./format.js";
import { main } from "./frame.js";
import { pairTable } from "./pair_table.js";
import { bar, card, intro, listing, nameOf, submissionLink } from "./parts.js";

export function submissions() {
  const pairs = index.submissions.map(() => ({ count: 0, highest: 0 }));
  for (const { left, right, score } of index.pairs) {
    for (const submission of [pairs[left], pairs[right]]) {
      submission.count += 1;
      submission.highest = Math.max(submission.highest, score);
    }
  }
  const rows = index.submissions.map(({ files }, n) => {
    const { count, highest } = pairs[n];
    return [
      make("span", {}, submissionLink(n)),
      files.length,
      count,
      count ? bar(highest, percent(highest)) : "–",
    ];
  });
  const table = listing(["Submission", "Files", "Pairs", "Highest score"], rows, "wide");
  const filter = () => {
    const query = search.value.toLocaleLowerCase();
    table
      .querySelectorAll("tbody tr")
      .forEach((row, n) =>
        row.toggleAttribute("hidden", !index.submissions[n].name.toLocaleLowerCase().includes(query)),
      );
  };
  const search = make("input", {
    type: "search",
    id: "search",
    placeholder: "Search names",
    title: "Search names (key: /)",
    "aria-label": "Search",
    oninput: filter,
  });
  main.append(make("h1", {}, "Submissions"), make("div", { class: "tools" }, search), table);
}

/** @param {number} n */
export function submission(n) {
  const { files, old, covered } = index.submissions[n];
  const pairs = index.pairs.flatMap(({ left, right }, at) => (left === n || right === n ? [at] : []));
  main.append(
    intro(
      make("bdi", {}, nameOf(n)),
      old ? "earlier work" : "",
      counted(files.length, "file"),
      counted(pairs.length, "pair"),
      covered === undefined ? "" : `${percent(covered)} of it is in matches with other submissions`,
    ),
  );
  const number = index.clusters.findIndex(({ members }) => members.includes(n));
  if (number >= 0) {
    const { members, score } = index.clusters[number];
    const others = members.filter((other) => other !== n);
    main.append(
      card(
        `Cluster ${number + 1}`,
        `With ${counted(others.length, "other submission")}. The highest score in this cluster is ${percent(score)}.`,
        make(
          "ul",
          { class: "chips" },
          others.map((other) => make("li", {}, submissionLink(other))),
        ),
      ),
    );
  }
  main.append(
    make("h2", {}, "Pairs"),
    pairs.length
      ? pairTable(pairs).frame
      : make("p", { class: "notice" }, "This submission is in no listed pair."),
  );
  const rows = files.map((file) => [
    make("bdi", { class: "file" }, visible(file.name)),
    kindOf(file),
    fileSize(file.bytes) + (file.isText ? " of text" : ""),
    make("code", { class: "hash" }, file.sha256),
  ]);
  main.append(make("h2", {}, "Files"), listing(["File", "Kind", "Size", "SHA-256"], rows));
}

/** @param {SourceFile} file */
const kindOf = ({ language, format }) => [...new Set([language, format])].filter(Boolean).join(", ") || "–";
