// A pair side by side: choose matches, and align the two sides.

/** @import { DocumentText, MatchRow, Pair, PaneOptions, Side } from "./types" */
import { index, loadMatches, loadTexts } from "./data.js";
import { make } from "./elements.js";
import { counted, decimal, grouped, percent } from "./format.js";
import { main } from "./frame.js";
import { counterparts, describe, matchesFrom } from "./matches.js";
import { Pane } from "./pane.js";
import { submissionLink } from "./parts.js";
import { verdictFields } from "./verdicts.js";

/** @typedef {{ step: (by: number) => void, redrawMaps: () => void }} OpenPair */

/** @type {OpenPair | null} */
let openPair = null;

/** Return the pair on the screen, if there is one. */
export const currentPair = () => openPair;

export const closePair = () => (openPair = null);

/** @param {number} n */
export async function pair(n) {
  const shown = index.pairs[n];
  const panes = make("div", { class: "panes" }, make("p", { class: "notice" }, "Loading …"));
  main.append(pairHead(shown, n), panes);
  let loaded;
  try {
    loaded = await Promise.all([loadTexts(shown.left), loadTexts(shown.right), loadMatches(n)]);
  } catch (error) {
    panes.replaceChildren(make("p", { class: "notice" }, error instanceof Error ? error.message : String(error)));
    return;
  }
  if (panes.isConnected) showPair(shown, ...loaded, panes);
}

/**
 * @param {Pair} shown
 * @param {number} n
 */
function pairHead(shown, n) {
  const figures = [
    ["score", percent(shown.score)],
    ["left in matches", percent(shown.coverage[0])],
    ["right in matches", percent(shown.coverage[1])],
    ["surprise", decimal(shown.surprise)],
    ["longest run", grouped(shown.longest)],
  ].map(([label, value]) => make("div", {}, make("b", {}, value), make("span", {}, label)));
  const hasNext = n + 1 < index.pairs.length;
  const steps = make(
    "div",
    { class: "steps" },
    n > 0 ? make("a", { href: "#/pair/" + (n - 1), title: "Previous pair" }, "‹") : null,
    make("span", {}, `Pair ${grouped(n + 1)} of ${grouped(index.pairs.length)}`),
    hasNext ? make("a", { href: "#/pair/" + (n + 1), title: "Next pair" }, "›") : null,
  );
  const names = make(
    "h1",
    { class: "names" },
    submissionLink(shown.left),
    make("span", { class: "and" }, "and"),
    submissionLink(shown.right),
  );
  return make(
    "div",
    { class: "pair-head" },
    make("div", {}, steps, names),
    make("div", { class: "figures" }, figures),
    make("div", { class: "review" }, verdictFields(shown)),
  );
}

/**
 * @param {Pair} shown
 * @param {DocumentText[]} left
 * @param {DocumentText[]} right
 * @param {MatchRow[]} rows
 * @param {HTMLElement} place
 */
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

  /**
   * Show a match on both sides; if you clicked a position in it, align the other side with that.
   * @param {number} number
   * @param {Side} [clickedSide]
   * @param {number} [clicked]
   */
  function select(number, clickedSide, clicked) {
    const match = matches[number - 1];
    active = number - 1;
    const positions = counterparts(match, clickedSide, clicked);
    const depth =
      clickedSide === undefined
        ? panes[0].scroller.clientHeight / 4
        : panes[clickedSide].depth(positions[clickedSide]);
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
  function redraw() {
    panes.forEach((pane) => pane.render());
    if (active >= 0) select(active + 1);
  }
  /** @param {"isFolded" | "wraps"} key @param {string} title @param {string} hint */
  const toggle = (key, title, hint) => {
    const onchange = () => {
      options[key] = box.checked;
      redraw();
    };
    const box = make("input", { type: "checkbox", name: key, checked: options[key], onchange });
    return make("label", { title: hint }, box, title);
  };
  const hasIgnored = [...left, ...right].some(({ ignored }) => ignored.length);
  place.before(
    make(
      "div",
      { class: "toolbar" },
      make(
        "button",
        { onclick: () => step(-1), title: "Previous match (key: p)", "aria-label": "Previous match" },
        "‹ Previous",
      ),
      position,
      make(
        "button",
        { onclick: () => step(1), title: "Next match (key: n)", "aria-label": "Next match" },
        "Next ›",
      ),
      detail,
      make("span", { class: "spacer" }),
      hasIgnored ? make("span", { class: "hint" }, "Grey: not compared") : null,
      toggle("isFolded", "Only matches", "Fold everything outside matches"),
      toggle("wraps", "Wrap lines", "Break long lines"),
    ),
  );
  place.replaceChildren(...panes.map((pane) => pane.element));
  if (sides.some(({ files }) => files.length > 1))
    place.after(
      make("p", { class: "print-only" }, "Only the files on the screen are printed. A case file has all matches."),
    );
  panes.forEach((pane, side) => pane.show(matches.length ? matches[0].file[side] : 0));
  openPair = { step, redrawMaps: () => panes.forEach((pane) => pane.drawMap()) };
  position.textContent = matches.length ? counted(matches.length, "match", "matches") : "No matches";
  if (matches.length)
    detail.textContent = `${counted(shown.symbols, "symbol")} in all, longest run ${grouped(shown.longest)}`;
}
