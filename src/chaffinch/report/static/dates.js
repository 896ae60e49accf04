// When work was handed in. Only reports with dates contain this script.

/** @import { DatedCluster, Dot } from "./types" */
import { drawnLink, makeDrawing } from "./charts.js";
import { index } from "./data.js";
import { make, makeSvg } from "./elements.js";
import { grouped, trimmed } from "./format.js";
import { additions, card, main, nameOf } from "./parts.js";

const DAY = 86400;
const TIME_STEPS = [60, 300, 900, 3600, 3 * 3600, 6 * 3600, DAY / 2].concat(
  [1, 2, 7, 14, 30, 91, 182, 365, 730].map((days) => days * DAY),
);
const TIMELINE = { width: 1000, left: 130, right: 60, top: 30, gap: 12 };
/** Clusters with more dots than this show a name only when you point at its dot. */
const MOST_NAMES = 12;
const LETTER_WIDTH = 6.5;
const WIDE_LETTER_WIDTH = 12;

const dates = index.dates ?? {};

/** @param {number} n */
const handedIn = (n) => dates[n]?.[0] ?? "";

/** @param {number} n */
const seconds = (n) => dates[n][1];

/** Return up to seven round times and labels. @param {number} low @param {number} high @param {number} least */
function timeTicks(low, high, least) {
  const step = TIME_STEPS.find((size) => size >= least && (high - low) / size <= 7) ?? (high - low) / 6;
  /** @type {[number, string][]} */
  const ticks = [];
  for (let time = Math.ceil(low / step) * step; time <= high; time += step) {
    const text = new Date(time * 1000).toISOString();
    ticks.push([time, step < DAY ? text.slice(0, 16).replace("T", " ") : text.slice(0, 10)]);
  }
  return ticks;
}

/** Put each dot into the first lane where it covers no other dot, and no name if there are few. */
/** @param {number[]} members @param {(time: number) => number} place */
function inLanes(members, place) {
  const isNamed = members.length <= MOST_NAMES;
  /** @type {number[]} */
  const ends = [];
  const dots = [...members]
    .sort((a, b) => seconds(a) - seconds(b) || a - b)
    .map((n) => {
      const x = place(seconds(n));
      const name = trimmed(index.submissions[n].name, 22) || "(no name)";
      const size = Array.from(name).reduce((sum, c) => sum + (c > "\u10ff" ? WIDE_LETTER_WIDTH : LETTER_WIDTH), 14);
      const isBefore = x + size > TIMELINE.width; // put the name to the left of its dot
      const from = isNamed && isBefore ? x - size : x - 8;
      const free = ends.findIndex((end) => end <= from);
      const lane = free >= 0 ? free : ends.length;
      ends[lane] = isNamed && !isBefore ? x + size : x + 8;
      return { n, x, lane, name, isBefore };
    });
  const laneHeight = isNamed ? 20 : 14;
  return { dots, isNamed, laneHeight, height: Math.max(26, ends.length * laneHeight) };
}

/** @param {Dot} dot @param {number} y @param {boolean} isNamed */
function timelineDot({ n, x, name, isBefore }, y, isNamed) {
  const words = `${nameOf(n)}, ${handedIn(n)}`;
  const beside = { x: isBefore ? x - 10 : x + 10, y: y + 4, "text-anchor": isBefore ? "end" : "start" };
  const label = makeSvg("text", { ...beside, class: isNamed ? null : "on-hover" }, name);
  return drawnLink(words, { href: "#/submission/" + n }, makeSvg("circle", { cx: x, cy: y, r: 5.5 }), label);
}

/** Draw a row for each cluster and a dot for each of its submissions with a date. @param {DatedCluster[]} clusters */
function timeline(clusters) {
  const { width, left, right, top, gap } = TIMELINE;
  const known = clusters.flatMap(({ dated }) => dated);
  const first = known.reduce((time, n) => Math.min(time, seconds(n)), Infinity);
  const last = known.reduce((time, n) => Math.max(time, seconds(n)), -Infinity);
  const least = known.every((n) => handedIn(n).length === 10) ? DAY : 60;
  const margin = Math.max((last - first) * 0.03, least === DAY ? DAY / 2 : 900);
  const [low, high] = [first - margin, last + margin];
  /** @param {number} time */
  const place = (time) => left + ((time - low) / (high - low)) * (width - left - right);
  const rows = clusters.map((cluster) => ({ ...cluster, ...inLanes(cluster.dated, place) }));
  const height = rows.reduce((sum, row) => sum + row.height + gap, top);
  const svg = makeDrawing("timeline", "Timeline", width, height + 1);
  for (const [time, text] of timeTicks(low, high, least)) {
    const x = place(time);
    svg.append(
      makeSvg("text", { class: "label", x, y: 14, "text-anchor": "middle" }, text),
      makeSvg("line", { x1: x, x2: x, y1: top - 8, y2: height }),
    );
  }
  svg.append(makeSvg("line", { class: "axis", x1: left, x2: width, y1: top - 8, y2: top - 8 }));
  let y = top;
  for (const row of rows) {
    const missing = row.members.length - row.dated.length;
    svg.append(
      makeSvg("text", { x: 0, y: y + 11 }, `Cluster ${grouped(row.number)}`),
      makeSvg("text", { class: "label", x: 0, y: y + 24 }, missing ? `${grouped(missing)} without a date` : ""),
      ...row.dots.map((dot) => timelineDot(dot, y + 7 + dot.lane * row.laneHeight, row.isNamed)),
    );
    y += row.height + gap;
    svg.append(makeSvg("line", { x1: 0, x2: width, y1: y - gap / 2, y2: y - gap / 2 }));
  }
  return svg;
}

additions.set("", () => {
  const clusters = index.clusters
    .map(({ members }, at) => ({ members, number: at + 1, dated: members.filter((n) => dates[n]) }))
    .filter(({ dated }) => dated.length);
  if (!clusters.length) return;
  const hasZones = clusters.some(({ dated }) => dated.some((n) => handedIn(n).length > 16));
  const hint =
    "When the submissions of each cluster were handed in. Handing in first does not prove who copied." +
    (hasZones ? " The axis is in UTC." : "");
  const drawing = make("div", { class: "scrolling" }, timeline(clusters));
  main.querySelector(".charts")?.after(card("Timeline", hint, drawing));
});

additions.set("submissions", () => {
  main.querySelector("thead th")?.after(make("th", { scope: "col" }, "Handed in"));
  for (const [n, cell] of main.querySelectorAll("tbody tr td:first-child").entries())
    cell.after(make("td", { class: "date", "data-label": "Handed in" }, handedIn(n) || "–"));
});

additions.set("pair", (n) => {
  const sides = [index.pairs[n].left, index.pairs[n].right].map(handedIn);
  if (sides.some(Boolean)) {
    const texts = sides.map((date) => make("span", {}, date ? "handed in " + date : ""));
    main.querySelector(".names")?.after(make("p", { class: "pair-dates" }, texts));
  }
});
