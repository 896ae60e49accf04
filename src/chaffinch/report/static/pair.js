// A pair side by side: choose matches, and align the two sides.

/** @import { DocumentText, MatchRow, Pair, PaneOptions, Side } from "./types" */
import { index, loadMatches, loadTexts } from "./data.js";
import { make } from "./elements.js";
import { counted, decimal, grouped, percent } from "./format.js";
import { counterparts, describe, matchesFrom } from "./matches.js";
import { Pane } from "./pane.js";
import { main, notice, submissionLink } from "./parts.js";
import { verdictFields } from "./verdicts.js";

/** @type {{ step: (by: number) => void, redrawMaps: () => void } | null} */
let openPair = null;

/** Return the pair on the screen, if there is one. */
export const currentPair = () => openPair;

export const closePair = () => (openPair = null);

/** @param {number} n */
export async function pair(n) {
  const shown = index.pairs[n];
  const panes = make("div", { class: "panes" }, notice("Loading …"));
  main.append(pairHead(shown, n), panes);
  const loading = Promise.all([loadTexts(shown.left), loadTexts(shown.right), loadMatches(n)]);
  const loaded = await loading.catch((/** @type {Error} */ { message }) => panes.replaceChildren(notice(message)));
  if (loaded && panes.isConnected) showPair(shown, ...loaded, panes);
}

/** @param {Pair} shown @param {number} n */
function pairHead(shown, n) {
  const figures = [
    ["score", percent(shown.score)],
    ["left in matches", percent(shown.coverage[0])],
    ["right in matches", percent(shown.coverage[1])],
    ["surprise", decimal(shown.surprise)],
    ["longest run", grouped(shown.longest)],
    ["symbols", grouped(shown.symbols)],
    ["fingerprints", grouped(shown.fingerprints)],
  ].map(([label, value]) => make("div", {}, make("b", {}, value), make("span", {}, label)));
  const hasNext = n + 1 < index.pairs.length;
  const steps = make(
    "div",
    { class: "steps" },
    n > 0 ? make("a", { href: "#/pair/" + (n - 1), title: "Previous pair" }, "‹") : null,
    make("span", {}, `Pair ${grouped(n + 1)} of ${grouped(index.pairs.length)}`),
    hasNext ? make("a", { href: "#/pair/" + (n + 1), title: "Next pair" }, "›") : null,
  );
  const and = make("span", { class: "and" }, "and");
  const names = make("h1", { class: "names" }, submissionLink(shown.left), and, submissionLink(shown.right));
  return make(
    "div",
    { class: "pair-head" },
    make("div", {}, steps, names),
    make("div", { class: "figures" }, figures),
    make("div", { class: "review" }, verdictFields(shown)),
  );
}

/** @type {(shown: Pair, left: DocumentText[], right: DocumentText[], rows: MatchRow[], place: Element) => void} */
function showPair(shown, left, right, rows, place) {
  const matches = matchesFrom(rows);
  const sides = [index.submissions[shown.left], index.submissions[shown.right]];
  const isProse = sides.some(({ files }) => files.some(({ language }) => language === "text"));
  /** @type {PaneOptions} */
  const options = { isFolded: false, wraps: isProse, select };
  const panes = [new Pane(0, sides[0], left, matches, options), new Pane(1, sides[1], right, matches, options)];
  const position = make("span", { class: "position", "aria-live": "polite" });
  const detail = make("span", { class: "detail" });
  let active = -1;

  /** Show a match on both sides; if you clicked a position in it, align the other side with that. */
  /** @param {number} number @param {Side} [clickedSide] @param {number} [clicked] */
  function select(number, clickedSide, clicked) {
    const match = matches[number - 1];
    active = number - 1;
    const positions = counterparts(match, clickedSide, clicked);
    const quarter = panes[0].scroller.clientHeight / 4;
    const depth = clickedSide === undefined ? quarter : panes[clickedSide].depth(positions[clickedSide]);
    panes.forEach((pane, side) => {
      pane.show(match.file[side]);
      pane.activate(match);
      if (side !== clickedSide) pane.reveal(positions[side], depth);
    });
    position.textContent = `Match ${grouped(number)} of ${grouped(matches.length)}`;
    detail.textContent = describe(match);
  }
  /** @param {number} by */
  function step(by) {
    const from = active < 0 && by < 0 ? 0 : active; // the last match comes before the first
    if (matches.length) select(((from + by + matches.length) % matches.length) + 1);
  }
  /** @param {"isFolded" | "wraps"} key @param {string} title @param {string} hint */
  const toggle = (key, title, hint) => {
    const onchange = () => {
      options[key] = box.checked;
      panes.forEach((pane) => pane.render());
      if (active >= 0) select(active + 1);
    };
    const box = make("input", { type: "checkbox", name: key, checked: options[key], onchange });
    return make("label", { title: hint }, box, title);
  };
  const previous = { onclick: () => step(-1), title: "Previous match (key: p)", "aria-label": "Previous match" };
  const next = { onclick: () => step(1), title: "Next match (key: n)", "aria-label": "Next match" };
  const hasIgnored = [...left, ...right].some(({ ignored }) => ignored.length);
  place.before(
    make(
      "div",
      { class: "toolbar" },
      make("button", previous, "‹ Previous"),
      position,
      make("button", next, "Next ›"),
      detail,
      make("span", { class: "spacer" }),
      hasIgnored ? make("span", { class: "hint" }, "Grey: not compared") : null,
      toggle("isFolded", "Only matches", "Fold everything outside matches"),
      toggle("wraps", "Wrap lines", "Break long lines"),
    ),
  );
  place.replaceChildren(...panes.map((pane) => pane.element));
  const advice = "Only the files on the screen are printed. A case file has all matches.";
  if (sides.some(({ files }) => files.length > 1)) place.after(make("p", { class: "print-only" }, advice));
  panes.forEach((pane, side) => pane.show(matches.length ? matches[0].file[side] : 0));
  openPair = { step, redrawMaps: () => panes.forEach((pane) => pane.drawMap()) };
  position.textContent = matches.length ? counted(matches.length, "match", "matches") : "No matches";
}
