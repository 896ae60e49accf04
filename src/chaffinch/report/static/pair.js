// A pair side by side: choosing matches, aligning the sides, what a match is made of.

let current = null;

function matchesFrom(rows) {
  const ranges = (ends) =>
    ends.flatMap((end, n) => (n % 2 ? [[ends[n - 1], end]] : [])).sort((a, b) => a[0] - b[0]);
  const matches = rows.map(([lf, ls, le, rf, rs, re, symbols, longest, owners, count, left, right, steps, isRepeat]) => ({
    file: [lf, rf],
    start: [ls, rs],
    end: [le, re],
    runs: [ranges(left), ranges(right)],
    steps: [0, 1].map((side) => {
      let place = 0;
      return steps.filter((_, n) => n % 2 === side).map((by) => (place += by));
    }),
    symbols,
    count,
    longest,
    owners,
    isRepeat: Boolean(isRepeat),
  }));
  matches.sort((a, b) => a.file[0] - b.file[0] || a.start[0] - b.start[0] || a.start[1] - b.start[1]);
  matches.forEach((match, n) => (match.number = n + 1));
  return matches;
}

/** Two places that stand beside each other, by side; the last ones before this one, if one is given. */
function beside(match, side, place) {
  const at = place === undefined ? -1 : firstAfter(match.steps[side], (step) => step, place) - 1;
  return at < 0 ? match.start : match.steps.map((places) => places[at]);
}

function why(match) {
  const runs = Math.max(1, match.count);
  const others = match.owners - 2;
  const also = others > 0 ? `; also in ${counted(others, "other submission")}` : "";
  const again = match.isRepeat ? "; part of a longer match, here again" : "";
  return `${counted(match.symbols, "symbol")} in ${counted(runs, "run")}, longest ${grouped(match.longest)}${also}${again}`;
}

async function pairPage(n) {
  const pair = index.pairs[n];
  const figures = [
    ["score", percent(pair.score)],
    ["left in matches", percent(pair.coverage[0])],
    ["right in matches", percent(pair.coverage[1])],
    ["surprise", decimal(pair.surprise)],
    ["longest run", grouped(pair.longest)],
  ].map(([label, value]) => make("div", {}, make("b", {}, value), make("span", {}, label)));
  const steps = make(
    "div",
    { class: "steps" },
    n > 0 ? make("a", { href: "#/pair/" + (n - 1), title: "The pair before" }, "‹") : null,
    make("span", {}, `Pair ${grouped(n + 1)} of ${grouped(index.pairs.length)}`),
    n + 1 < index.pairs.length ? make("a", { href: "#/pair/" + (n + 1), title: "The next pair" }, "›") : null,
  );
  const names = make(
    "h1",
    { class: "names" },
    studentLink(pair.left),
    make("span", { class: "and" }, "and"),
    studentLink(pair.right),
  );
  const head = make(
    "div",
    { class: "pair-head" },
    make("div", {}, steps, names),
    make("div", { class: "figures" }, figures),
    make("div", { class: "judge" }, verdictFields(pair)),
  );
  const place = make("div", { class: "panes" }, make("p", { class: "notice" }, "Loading …"));
  main.append(head, place);
  let loaded;
  try {
    loaded = await Promise.all([load("s" + pair.left), load("s" + pair.right), load("p" + n)]);
  } catch (error) {
    place.replaceChildren(make("p", { class: "notice" }, error.message));
    return;
  }
  if (place.isConnected) showPair(pair, loaded, place);
}

function showPair(pair, [left, right, rows], place) {
  const matches = matchesFrom(rows);
  const sides = [pair.left, pair.right].map((at) => index.submissions[at]);
  const isProse = sides.some((side) => side.files.some((file) => file.language === "text"));
  const options = { isFolded: false, wraps: isProse, select };
  const panes = [left, right].map((texts, side) => new Pane(side, sides[side], texts, matches, options));
  const label = make("span", { class: "which", "aria-live": "polite" });
  const reason = make("span", { class: "why" });
  let chosen = -1;

  /** Shows a match on both sides; if a place in it was clicked, what stands beside that, at the same height. */
  function select(number, clickedSide, place) {
    const match = matches[number - 1];
    chosen = number - 1;
    const places = beside(match, clickedSide, place);
    const below = place === undefined ? panes[0].scroller.clientHeight / 4 : panes[clickedSide].height(places[clickedSide]);
    panes.forEach((pane, side) => {
      pane.show(match.file[side]);
      pane.activate(match);
      if (side !== clickedSide) pane.reveal(places[side], below);
    });
    label.textContent = `Match ${grouped(number)} of ${grouped(matches.length)}`;
    reason.textContent = why(match);
  }
  function step(by) {
    const from = chosen < 0 && by < 0 ? 0 : chosen; // before the first comes the last
    if (matches.length) select(((from + by + matches.length) % matches.length) + 1);
  }
  function redraw() {
    panes.forEach((pane) => pane.render());
    if (chosen >= 0) select(chosen + 1);
  }
  const toggle = (title, key, hint) =>
    make(
      "label",
      { title: hint },
      make("input", {
        type: "checkbox",
        name: key,
        checked: options[key],
        onchange: (event) => ((options[key] = event.target.checked), redraw()),
      }),
      title,
    );
  const tools = make(
    "div",
    { class: "bar-tools" },
    make(
      "button",
      { onclick: () => step(-1), title: "Previous match: p", "aria-label": "Previous match" },
      "‹ Previous",
    ),
    label,
    make("button", { onclick: () => step(1), title: "Next match: n", "aria-label": "Next match" }, "Next ›"),
    reason,
    make("span", { class: "space" }),
    [left, right].flat().some((text) => text.ignored.length)
      ? make("span", { class: "why" }, "Grey: not compared")
      : null,
    toggle("Only matches", "isFolded", "Folds what stands in no match"),
    toggle("Wrap lines", "wraps", "Breaks long lines"),
  );
  place.before(tools);
  place.replaceChildren(...panes.map((pane) => pane.element));
  if (sides.some((side) => side.files.length > 1))
    place.after(make("p", { class: "on-paper" }, "Only the files shown are printed; a case file has all matches."));
  const first = matches[0];
  panes.forEach((pane, side) => pane.show(first ? first.file[side] : 0));
  current = { step, recolour: () => panes.forEach((pane) => pane.drawMap()) };
  if (first) {
    chosen = -1;
    label.textContent = `${grouped(matches.length)} ${matches.length === 1 ? "match" : "matches"}`;
    reason.textContent = `${counted(pair.symbols, "symbol")} in all, longest run ${grouped(pair.longest)}`;
  } else label.textContent = "No matches";
}
