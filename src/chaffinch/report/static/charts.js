// The two charts of the overview: the scores of all pairs, and the clusters.

/** @import { Children, Pair, Properties } from "./types" */
import { index } from "./data.js";
import { makeSvg } from "./elements.js";
import { counted, grouped, percent, trimmed } from "./format.js";
import { nameOf } from "./parts.js";

const HISTOGRAM = { width: 560, height: 200, left: 8, right: 8, top: 14, bottom: 34 };
const MOST_TICKS = 2000;
/** Radius of a dot, and size of a letter, in a graph that is drawn at full size. */
const DOT = 7;
const LETTER = { width: 6, above: 9, below: 2 };
/** Graphs that are shrunk more than this have no labels. */
const LABEL_SCALE = 2.2;

/** @param {string} kind @param {string} label @param {number} width @param {number} height */
export const makeDrawing = (kind, label, width, height) =>
  makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, class: kind, role: "group", "aria-label": label });

/** Build a link with a title. @param {string} words @param {Properties} properties @param {Children} children */
export const drawnLink = (words, properties, ...children) =>
  makeSvg("a", { ...properties, "aria-label": words }, makeSvg("title", {}, words), ...children);

/** Draw all pairs by score in grey and those listed in colour; on a log scale, because most pairs share nothing. */
export function histogram() {
  const all = index.background;
  const bins = all.length || 20;
  const listed = new Array(bins).fill(0);
  for (const pair of index.pairs) listed[Math.min(bins - 1, Math.max(0, Math.floor(pair.score * bins)))] += 1;
  const { width, height, left, right, top, bottom } = HISTOGRAM;
  const base = height - bottom;
  const step = (width - left - right) / bins;
  const most = Math.max(1, ...all, ...listed);
  /** @param {number} share */
  const placeOf = (share) => left + Math.min(1, Math.max(0, share)) * (width - left - right);
  /** @param {number} n */
  const tall = (n) => (n ? Math.max(2, (Math.log1p(n) / Math.log1p(most)) * (base - top)) : 0);
  /** @param {string} kind @param {number} n @param {number} bin */
  const column = (kind, n, bin) => {
    const box = { x: left + bin * step + 1, y: base - tall(n), width: step - 2, height: tall(n) };
    return makeSvg("rect", { class: kind, ...box, rx: 1.5 });
  };
  const svg = makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "histogram" });
  /** @param {number} bin */
  const from = (bin) => Math.round((bin / bins) * 100);
  for (let bin = 0; bin < bins; bin += 1) {
    const n = Math.max(all[bin] || 0, listed[bin]);
    const words = `Score ${from(bin)} to ${from(bin + 1)}%: ${counted(n, "pair")}, ${grouped(listed[bin])} listed`;
    const area = { class: "hover-area", x: left + bin * step, y: top, width: step, height: base - top };
    const columns = [column("all", n, bin), column("listed", listed[bin], bin)];
    svg.append(makeSvg("g", {}, makeSvg("title", {}, words), makeSvg("rect", area), columns));
    const place = { class: "count", x: left + (bin + 0.5) * step, y: base - tall(n) - 4 };
    if (n) svg.append(makeSvg("text", place, short(n)));
  }
  svg.append(makeSvg("line", { class: "axis", x1: left, x2: width - right, y1: base, y2: base }));
  for (const pair of index.pairs.slice(0, MOST_TICKS)) {
    const x = placeOf(pair.score);
    svg.append(makeSvg("line", { class: "tick", x1: x, x2: x, y1: base + 3, y2: base + 10 }));
  }
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const anchor = share === 0 ? "start" : share === 1 ? "end" : "middle";
    const place = { class: "label", x: placeOf(share), y: height - 8, "text-anchor": anchor };
    svg.append(makeSvg("text", place, percent(share)));
  }
  return svg;
}

/** @param {number} n */
const short = (n) => (n < 10000 ? String(n) : n < 1e6 ? Math.round(n / 1000) + "k" : (n / 1e6).toFixed(1) + "M");

/** Draw the submissions of clusters as dots and pairs as lines between them; a click opens either. */
export function clusterGraph() {
  const { width, height, nodes } = index.graph;
  const svg = makeDrawing("graph", "Clusters", width, height);
  svg.style.maxWidth = width * 1.2 + "px";
  // The graph is shrunk to fit, so dots and letters are drawn larger by as much.
  const scale = Math.max(1, width / 560, height / 330);
  svg.style.fontSize = 10 * scale + "px";
  const places = new Map(nodes.map(([n, x, y]) => [n, { x, y }]));
  /** Which cluster a submission is in. @type {Map<number, number>} */
  const clusters = new Map();
  index.clusters.forEach(({ members }, at) => members.forEach((n) => clusters.set(n, at)));
  index.pairs.forEach((pair, n) => {
    const [a, b] = [places.get(pair.left), places.get(pair.right)];
    if (a && b && clusters.get(pair.left) === clusters.get(pair.right)) svg.append(edge(pair, n, a, b));
  });
  const isLabelled = scale < LABEL_SCALE;
  const middles = index.clusters.map(
    ({ members }) => members.reduce((sum, n) => sum + (places.get(n)?.y ?? 0), 0) / members.length,
  );
  const reach = DOT * scale;
  const taken = nodes.map(([, x, y]) => [x - reach, y - reach, x + reach, y + reach]);
  for (const [n, x, y] of nodes) {
    const circle = makeSvg("circle", { cx: x, cy: y, r: (isLabelled ? DOT : 5) * scale });
    const link = drawnLink(nameOf(n), { href: "#/submission/" + n, tabindex: -1 }, circle); // the table has them all
    const label = trimmed(index.submissions[n].name, 14);
    const half = (label.length * LETTER.width * scale) / 2;
    const middle = Math.min(Math.max(x, half), Math.max(half, width - half));
    // Put labels above the upper submissions of a cluster and below the others, if there is room.
    const isUpper = y < middles[clusters.get(n) ?? 0] - 1;
    for (const offset of !isLabelled ? [] : isUpper ? [-12, 19] : [19, -12]) {
      const base = y + offset * scale;
      const box = [middle - half, base - LETTER.above * scale, middle + half, base + LETTER.below * scale];
      if (taken.some(([l, t, r, b]) => l < box[2] && r > box[0] && t < box[3] && b > box[1])) continue;
      taken.push(box);
      link.append(makeSvg("text", { x: middle, y: base }, label));
      break;
    }
    svg.append(link);
  }
  return svg;
}

/** @typedef {{ x: number, y: number }} Place */
/** @param {Pair} pair @param {number} n @param {Place} a @param {Place} b */
function edge(pair, n, a, b) {
  const ends = { x1: a.x, y1: a.y, x2: b.x, y2: b.y };
  const line = makeSvg("line", { ...ends, class: "edge" });
  line.style.strokeWidth = String(1 + 5 * pair.score);
  line.style.strokeOpacity = String(0.25 + 0.65 * pair.score);
  const words = `${nameOf(pair.left)} and ${nameOf(pair.right)}: ${percent(pair.score)}`;
  const area = makeSvg("line", { ...ends, class: "hover-area" });
  return drawnLink(words, { href: "#/pair/" + n, tabindex: -1 }, line, area);
}
