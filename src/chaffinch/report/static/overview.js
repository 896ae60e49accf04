// The overview: all pairs in a table that can be searched and sorted, and what they are like as a whole.

const ROWS = 300;
const COLUMNS = [
  { title: "#", value: (_, n) => n, isName: true, kind: "rank" },
  { title: "Left", value: (pair) => index.submissions[pair.left].name, isName: true },
  { title: "Right", value: (pair) => index.submissions[pair.right].name, isName: true },
  { title: "Score", value: (pair) => pair.score, help: "score" },
  { title: "Left in matches", value: (pair) => pair.coverage[0], help: "coverage" },
  { title: "Right in matches", value: (pair) => pair.coverage[1], help: "coverage" },
  { title: "Surprise", value: (pair) => pair.surprise, help: "surprise" },
  { title: "Longest run", value: (pair) => pair.longest },
  { title: "Matches", value: (pair) => pair.matches },
];
let order = { column: 0, isDown: false }; // as the report ranks them
let sought = "";
let verdictSought = null;
let rows = ROWS; // so many are shown
let allRows = null; // shows all, for paper

function compared(a, b) {
  if (typeof a === "string") return a.localeCompare(b);
  return (a ?? Infinity) - (b ?? Infinity) || 0;
}

/** The numbers of these pairs, as asked for; equal ones stay in the order of the report. */
function ranked(numbers) {
  const { value } = COLUMNS[order.column];
  const sign = order.isDown ? -1 : 1;
  return [...numbers].sort(
    (a, b) => sign * compared(value(index.pairs[a], a), value(index.pairs[b], b)) || a - b,
  );
}

function bar(share, text) {
  const filled = make("span", { class: "fill" });
  filled.style.width = Math.round(Math.min(1, Math.max(0, share || 0)) * 100) + "%";
  return make("span", { class: "bar" }, make("span", { class: "track" }, filled), make("span", {}, text));
}

function pairRow(n) {
  const pair = index.pairs[n];
  const open = () => (location.hash = "#/pair/" + n);
  const number = (text, label) => make("td", { class: "num", "data-label": label }, text);
  return make(
    "tr",
    { onclick: (event) => event.target.closest("a, select, input") || getSelection().toString() || open() },
    make(
      "td",
      { class: "rank" },
      make("a", { href: "#/pair/" + n, "aria-label": "Open pair " + (n + 1) }, String(n + 1)),
    ),
    make("td", { class: "who" }, studentLink(pair.left)),
    make("td", { class: "who" }, studentLink(pair.right)),
    make("td", { class: "score", "data-label": "Score" }, bar(pair.score, percent(pair.score))),
    number(percent(pair.coverage[0]), "Left in matches"),
    number(percent(pair.coverage[1]), "Right in matches"),
    number(decimal(pair.surprise), "Surprise"),
    number(grouped(pair.longest), "Longest run"),
    number(grouped(pair.matches), "Matches"),
    make("td", { class: "judge" }, verdictFields(pair)),
  );
}

/** A table of pairs that can be sorted, with so many rows at first. */
function pairTable(numbers) {
  const body = make("tbody");
  const heads = COLUMNS.map((column, at) => {
    const sort = make(
      "button",
      { title: column.help ? `${column.title}: ${index.words[column.help]}` : null, onclick: () => turn(at) },
      column.title,
    );
    const kind = column.kind || (column.isName ? "who" : "num");
    return make("th", { scope: "col", class: kind, "data-title": column.title }, sort);
  });
  const more = make("button", { class: "more" });
  let shown = numbers;
  function turn(at) {
    order = { column: at, isDown: order.column === at ? !order.isDown : !COLUMNS[at].isName };
    fill(shown, ROWS);
  }
  function fill(wanted, limit = ROWS) {
    shown = wanted;
    rows = visits.get(visitNow).rows = limit;
    heads.forEach((head, at) => {
      if (at === order.column) head.setAttribute("aria-sort", order.isDown ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const sorted = ranked(wanted);
    body.replaceChildren(...sorted.slice(0, limit).map(pairRow));
    if (!sorted.length)
      body.append(make("tr", { class: "empty" }, make("td", { colspan: 10 }, "No pair is like that.")));
    more.hidden = sorted.length <= limit;
    more.textContent = `Show more of ${grouped(sorted.length)} pairs`;
    more.onclick = () => fill(shown, limit + 5 * ROWS);
  }
  fill(numbers, rows);
  allRows = () => body.isConnected && fill(shown, shown.length);
  const head = make("thead", {}, make("tr", {}, heads, make("th", { class: "judge" }, "Verdict and note")));
  const frame = make("div", { class: "frame" }, make("table", { class: "pairs" }, head, body), more);
  return { frame, fill };
}

function explained(...keys) {
  return make(
    "dl",
    { class: "words" },
    keys.map((key) =>
      make("div", {}, make("dt", {}, key[0].toUpperCase() + key.slice(1)), make("dd", {}, index.words[key])),
    ),
  );
}

function card(title, hint, ...content) {
  return make(
    "section",
    { class: "card" },
    make("h2", {}, title),
    hint ? make("p", { class: "hint" }, hint) : null,
    ...content,
  );
}

function overview() {
  const all = index.pairs.map((_, n) => n);
  const current = index.submissions.filter((s) => !s.old).length;
  const old = index.submissions.length - current;
  const facts = [
    counted(current, "submission"),
    old ? counted(old, "older submission") : "",
    counted(all.length, "pair") + " listed",
    counted(index.clusters.length, "cluster"),
  ];
  const total = index.background.reduce((sum, n) => sum + n, 0);
  main.append(
    make(
      "div",
      { class: "intro" },
      make("h1", {}, "Pairs with something in common"),
      make("p", { class: "facts" }, facts.filter(Boolean).join(" · ")),
    ),
  );
  if (index.pairs.length) main.append(explained("score", "coverage", "surprise"));
  const charts = make("div", { class: "charts" });
  if (total || all.length) {
    const estimated = index.receipt.background;
    const key = make(
      "p",
      { class: "hint key" },
      make("span", { class: "swatch all" }),
      `${counted(Math.max(total, all.length), "pair")} in all, on a logarithmic scale${estimated ? "; " + estimated : ""}`,
      all.length ? [make("span", { class: "swatch listed" }), "listed below"] : null,
    );
    charts.append(card("Scores", null, key, histogram()));
  }
  if (index.graph.nodes.length) {
    const hint =
      "A dot is a submission, a line a pair; the thicker, the higher the score. Open either with a click.";
    charts.append(card("Clusters", hint, make("div", { class: "scroll" }, clusterGraph())));
  }
  main.append(charts);
  if (!all.length) {
    main.append(
      make(
        "p",
        { class: "notice" },
        "No pair is listed: none has enough in common beyond what is usual, or what was given to all.",
      ),
    );
    return;
  }
  const { frame, fill } = pairTable(all);
  const found = make("span", { class: "hint" });
  const seek = (limit) => {
    sought = search.value;
    verdictSought = judged.value === "any" ? null : judged.value;
    const words = sought.toLocaleLowerCase().split(/\s+/).filter(Boolean);
    const name = (n) =>
      `${index.submissions[index.pairs[n].left].name}\n${index.submissions[index.pairs[n].right].name}`.toLocaleLowerCase();
    const isSought = (n) =>
      words.every((word) => name(n).includes(word)) &&
      (verdictSought === null || verdictOf(index.pairs[n]).verdict === verdictSought);
    const wanted = all.filter(isSought);
    found.textContent = wanted.length < all.length ? `${grouped(wanted.length)} of ${grouped(all.length)}` : "";
    fill(wanted, limit);
  };
  const search = make("input", {
    type: "search",
    id: "search",
    placeholder: "Search names",
    "aria-label": "Search",
    value: sought,
    oninput: () => seek(),
  });
  const judged = make(
    "select",
    { "aria-label": "Verdicts shown", onchange: () => seek() },
    make("option", { value: "any" }, "any verdict"),
    VERDICTS.map((verdict) =>
      make("option", { value: verdict, selected: verdict === verdictSought }, verdict || "not decided"),
    ),
  );
  main.append(make("div", { class: "tools" }, search, judged, found), frame);
  if (sought || verdictSought !== null) seek(rows);
}
