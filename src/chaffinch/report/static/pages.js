// The other pages with lists: submissions, one student, what was left out, what was done.

/** A plain table: titles, and rows of texts or elements. */
function listing(titles, rows, kind = "") {
  const head = make(
    "tr",
    {},
    titles.map((title) => make("th", { scope: "col" }, title)),
  );
  const cells = (row) =>
    make(
      "tr",
      {},
      row.map((cell, at) =>
        make(
          "td",
          { "data-label": titles[at], class: typeof cell === "number" ? "num" : null },
          typeof cell === "number" ? grouped(cell) : cell,
        ),
      ),
    );
  return make(
    "div",
    { class: "frame" },
    make("table", { class: "list " + kind }, make("thead", {}, head), make("tbody", {}, rows.map(cells))),
  );
}

function pairsOf(n) {
  return index.pairs
    .map((_, at) => at)
    .filter((at) => index.pairs[at].left === n || index.pairs[at].right === n);
}

function submissions() {
  const best = new Map();
  for (const pair of index.pairs) {
    for (const n of [pair.left, pair.right]) {
      const { score, count } = best.get(n) || { score: 0, count: 0 };
      best.set(n, { score: Math.max(score, pair.score), count: count + 1 });
    }
  }
  const rows = index.submissions.map((submission, n) => [
    make("span", {}, studentLink(n)),
    submission.files.length,
    best.get(n)?.count || 0,
    best.has(n) ? bar(best.get(n).score, percent(best.get(n).score)) : "–",
  ]);
  const filter = () => {
    const word = search.value.toLocaleLowerCase();
    table
      .querySelectorAll("tbody tr")
      .forEach((row, n) => (row.hidden = !index.submissions[n].name.toLocaleLowerCase().includes(word)));
  };
  const search = make("input", {
    type: "search",
    placeholder: "Search names",
    "aria-label": "Search",
    oninput: filter,
  });
  const table = listing(["Submission", "Files", "Pairs", "Highest score"], rows, "wide");
  main.append(make("h1", {}, "Submissions"), make("div", { class: "tools" }, search), table);
}

function student(n) {
  const submission = index.submissions[n];
  const name = make("bdi", {}, visible(submission.name) || "(no name)");
  const pairs = pairsOf(n);
  const facts = [
    submission.old ? "an older submission" : "",
    counted(submission.files.length, "file"),
    counted(pairs.length, "pair"),
    "covered" in submission ? `${percent(submission.covered)} of it in matches with any of the others` : "",
  ];
  main.append(
    make(
      "div",
      { class: "intro" },
      make("h1", { class: "long" }, name),
      make("p", { class: "facts" }, facts.filter(Boolean).join(" · ")),
    ),
  );
  const number = index.clusters.findIndex((found) => found.members.includes(n));
  if (number >= 0) {
    const cluster = index.clusters[number];
    const others = cluster.members
      .filter((other) => other !== n)
      .map((other) => make("li", {}, studentLink(other)));
    main.append(
      card(
        `Cluster ${number + 1}`,
        `With ${counted(others.length, "other")}; its strongest pair has ${percent(cluster.score)}.`,
        make("ul", { class: "chips" }, others),
      ),
    );
  }
  main.append(
    make("h2", {}, "Pairs"),
    pairs.length ? pairTable(pairs).frame : make("p", { class: "notice" }, "In no pair that is listed."),
  );
  const rows = submission.files.map((file) => [
    make("bdi", { class: "file" }, visible(file.name)),
    languageName(file),
    sizes(file.bytes) + (file.isText ? " of text" : ""),
    make("code", { class: "hash" }, file.sha256),
  ]);
  main.append(make("h2", {}, "Files"), listing(["File", "Kind", "Size", "SHA-256"], rows));
}

const languageName = (file) =>
  [file.language, file.format].filter((word, at, all) => word && all.indexOf(word) === at).join(", ") || "–";

function leftOut() {
  main.append(make("div", { class: "intro" }, make("h1", {}, "Left out")));
  const common = index.common.map((passage) => {
    const [first, last] = passage.lines || [0, 0];
    const lines = !first ? "" : first === last ? `, line ${first}` : `, lines ${first}–${last}`;
    const head = make(
      "summary",
      {},
      make("b", {}, `in ${counted(passage.owners, "submission")}`),
      ` ${counted(passage.symbols, "symbol")} · `,
      make("bdi", {}, visible(passage.file)),
      lines,
    );
    const text = passage.text
      ? make("pre", {}, visible(passage.text))
      : make("p", { class: "hint" }, "The text is not in this report.");
    return make("details", { class: "passage" }, head, text);
  });
  if (index.ignored) {
    const { base, base_symbols, max_owners, symbols_with_more_owners } = index.receipt;
    const sum = (counts) => Object.values(counts || {}).reduce((total, n) => total + n, 0);
    const told = [
      sum(base_symbols) ? `${counted(sum(base_symbols), "symbol")} of base code` : "",
      sum(symbols_with_more_owners)
        ? `${counted(sum(symbols_with_more_owners), "symbol")} that more than ${max_owners} have`
        : "",
    ];
    const hint = `In ${counted(index.ignored, "submission")}; grey where a pair is shown side by side.`;
    const files = Object.keys(base || {}).map((name) => make("li", {}, make("bdi", {}, visible(name))));
    main.append(
      card(
        "Not compared",
        hint,
        make("p", {}, told.filter(Boolean).join(", ") + "."),
        files.length ? make("ul", { class: "chips" }, files) : null,
      ),
    );
  }
  const hint = "What at least half of all have, though nobody gave it as base code: it counts, but little.";
  main.append(card("Passages in common", hint, common.length ? common : make("p", {}, "None.")));
  const rows = index.skipped.map((skipped) => [make("bdi", {}, visible(skipped.name)), skipped.detail]);
  main.append(
    card(
      "Skipped",
      "What could not be compared, and why.",
      rows.length ? listing(["File", "Why"], rows) : make("p", {}, "Nothing: every file was read."),
    ),
  );
}

/** A value of the receipt, whatever is in it. */
function tree(value) {
  if (value === null || value === undefined) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "object") return visible(String(value));
  if (Array.isArray(value)) {
    if (!value.length) return "none";
    if (value.every((inner) => typeof inner !== "object" || inner === null)) return value.map(tree).join(", ");
    return make(
      "ul",
      {},
      value.map((inner) => make("li", {}, tree(inner))),
    );
  }
  return make(
    "dl",
    { class: "receipt" },
    Object.entries(value).map(([key, inner]) =>
      make("div", {}, make("dt", {}, visible(key).replace(/_/g, " ")), make("dd", {}, tree(inner))),
    ),
  );
}

function method() {
  main.append(
    make("h1", {}, "Method"),
    explained("score", "coverage", "surprise"),
    card("Receipt", "What was done, so that it can be done again.", tree(index.receipt)),
  );
}
