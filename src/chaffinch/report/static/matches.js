// The matches of a pair: read, described, and cut into pieces to mark.

/** @import { Mark, Match, MatchRow, Range, Side } from "./types" */
import { counted, grouped } from "./format.js";

/** How many colours match_colours.css has. */
export const COLOURS = 8;

/** @param {number} number */
export const colourOf = (number) => (number - 1) % COLOURS;

/** Read the matches of a chunk, in the order of the left side. @param {MatchRow[]} rows */
export function matchesFrom(rows) {
  const matches = rows.map(matchFrom);
  matches.sort((a, b) => a.file[0] - b.file[0] || a.start[0] - b.start[0] || a.start[1] - b.start[1]);
  matches.forEach((match, n) => (match.number = n + 1));
  return matches;
}

/** @param {MatchRow} row @returns {Match} */
function matchFrom(row) {
  const [leftFile, leftStart, leftEnd, rightFile, rightStart, rightEnd, ...rest] = row;
  const [symbols, longest, owners, runCount, leftRuns, rightRuns, steps, isRepeat] = rest;
  return {
    number: 0,
    file: [leftFile, rightFile],
    start: [leftStart, rightStart],
    end: [leftEnd, rightEnd],
    runs: [ranges(leftRuns), ranges(rightRuns)],
    steps: [positions(steps, 0), positions(steps, 1)],
    symbols,
    runCount,
    longest,
    owners,
    isRepeat: isRepeat === 1,
  };
}

/** @param {number[]} ends @returns {Range[]} */
function ranges(ends) {
  /** @type {Range[]} */
  const pairs = [];
  for (let n = 0; n < ends.length; n += 2) pairs.push([ends[n], ends[n + 1]]);
  return pairs.sort((a, b) => a[0] - b[0]);
}

/** @param {number[]} steps @param {Side} side */
function positions(steps, side) {
  let position = 0;
  return steps.filter((_, n) => n % 2 === side).map((step) => (position += step));
}

/** Return two aligned positions: the last ones before a position of one side, or the start of the match. */
/** @param {Match} match @param {Side} [side] @param {number} [position] */
export function counterparts(match, side, position) {
  if (side === undefined || position === undefined) return match.start;
  const steps = match.steps[side];
  // Where a document repeats itself, steps are in order on the left only.
  let at = -1;
  steps.forEach((step, n) => {
    if (step <= position && (at < 0 || step >= steps[at])) at = n;
  });
  return at < 0 ? match.start : match.steps.map((positions) => positions[at]);
}

/** Say how large a match is and who else has it. @param {Match} match */
export function describe(match) {
  const others = match.owners - 2;
  const also = others > 0 ? `; also in ${counted(others, "other submission")}` : "";
  const repeat = match.isRepeat ? "; repeats part of a longer match" : "";
  const runs = counted(Math.max(1, match.runCount), "run");
  return `${counted(match.symbols, "symbol")} in ${runs}, longest ${grouped(match.longest)}${also}${repeat}`;
}

/** Return the first n, up to a count, at which an ascending function is greater than a limit. */
/** @param {number} count @param {(n: number) => number} valueAt @param {number} limit */
export function firstAfter(count, valueAt, limit) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (valueAt(middle) > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Cut one side of a file into pieces that lie in matches and do not overlap. */
/** @param {Match[]} matches @param {Side} side @param {Match | null} active */
export function marksOf(matches, side, active) {
  const cuts = matches.flatMap((match) => [
    { position: match.start[side], isStart: true, match },
    { position: match.end[side], isStart: false, match },
  ]);
  cuts.sort((a, b) => a.position - b.position || Number(a.isStart) - Number(b.isStart));
  /** @type {Mark[]} */
  const marks = [];
  /** @type {Set<Match>} */
  const open = new Set();
  cuts.forEach(({ position, isStart, match }, at) => {
    if (isStart) open.add(match);
    else open.delete(match);
    const next = cuts[at + 1]?.position ?? position;
    const top = next > position ? topmost(open, side, active) : null;
    if (top) markRuns(marks, top, side, position, next);
  });
  return marks;
}

/** Choose the match to show where several overlap: the active one, otherwise the shortest. */
/** @param {Set<Match>} open @param {Side} side @param {Match | null} active */
function topmost(open, side, active) {
  if (active && open.has(active)) return active;
  /** @param {Match} match */
  const size = (match) => match.end[side] - match.start[side];
  const none = /** @type {Match | null} */ (null);
  return [...open].reduce((top, match) => (top && size(match) > size(top) ? top : match), none);
}

/** Mark a match between two positions, its runs and the text between them. */
/** @param {Mark[]} marks @param {Match} match @param {Side} side @param {number} start @param {number} end */
function markRuns(marks, match, side, start, end) {
  for (const [runStart, runEnd] of match.runs[side]) {
    if (runEnd <= start || runStart >= end) continue;
    if (runStart > start) marks.push({ start, end: runStart, match, isRun: false });
    const stop = Math.min(runEnd, end);
    marks.push({ start: Math.max(runStart, start), end: stop, match, isRun: true });
    start = stop;
  }
  if (start < end) marks.push({ start, end, match, isRun: false });
}
