// When work was handed in. Only reports with dates have this part: it adds them to the pages made without.

const DAY = 86400;
const TIME_STEPS = [60, 300, 900, 3600, 3 * 3600, 6 * 3600, DAY / 2].concat(
  [1, 2, 7, 14, 30, 91, 182, 365, 730].map((days) => days * DAY),
);
const TIMELINE = { width: 1000, left: 130, right: 60, top: 30, gap: 12, named: 12 };
const undated = { overview, submissions, pairPage };

const handedIn = (n) => index.dates[n]?.[0] || "";

/** Steps of round times, seven at most, and what to call them. */
function timeTicks(low, high, least) {
  const step = TIME_STEPS.find((size) => size >= least && (high - low) / size <= 7) || (high - low) / 6;
  const ticks = [];
  for (let time = Math.ceil(low / step) * step; time <= high; time += step) {
    const text = new Date(time * 1000).toISOString();
    ticks.push([time, step < DAY ? text.slice(0, 16).replace("T", " ") : text.slice(0, 10)]);
  }
  return ticks;
}

/** Dots from left to right, each in the first lane where it covers no other, nor its name if they are few. */
function inLanes(members, place) {
  const isNamed = members.length <= TIMELINE.named;
  const ends = [];
  const dots = [...members]
    .sort((a, b) => index.dates[a][1] - index.dates[b][1] || a - b)
    .map((n) => {
      const x = place(index.dates[n][1]);
      const name = trimmed(index.submissions[n].name, 22) || "(no name)";
      const size = Array.from(name).reduce((sum, c) => sum + (c > "\u10ff" ? 12 : 6.5), 14);
      const isBefore = x + size > TIMELINE.width; // the name stands left of its dot
      const from = isNamed && isBefore ? x - size : x - 8;
      const free = ends.findIndex((end) => end <= from);
      const lane = free >= 0 ? free : ends.length;
      ends[lane] = isNamed && !isBefore ? x + size : x + 8;
      return { n, x, lane, name, isBefore };
    });
  const lane = isNamed ? 20 : 14;
  return { dots, isNamed, lane, height: Math.max(26, ends.length * lane) };
}

function timelineDot({ n, x, name, isBefore }, y, isNamed) {
  const words = `${visible(index.submissions[n].name) || "(no name)"}, ${handedIn(n)}`;
  const beside = { x: isBefore ? x - 10 : x + 10, y: y + 4, "text-anchor": isBefore ? "end" : "start" };
  return makeSvg(
    "a",
    { href: "#/student/" + n, "aria-label": words },
    makeSvg("title", {}, words),
    makeSvg("circle", { cx: x, cy: y, r: 5.5 }),
    makeSvg("text", { ...beside, class: isNamed ? null : "shy" }, name),
  );
}

/** A row for each cluster that has dates, a dot for each of its submissions that has one. */
function timeline(clusters) {
  const { width, left, right, top, gap } = TIMELINE;
  const dates = clusters.flatMap(({ known }) => known.map((n) => index.dates[n]));
  const [first, last] = dates.reduce(([a, b], [, t]) => [Math.min(a, t), Math.max(b, t)], [Infinity, -Infinity]);
  const least = dates.every(([text]) => text.length === 10) ? DAY : 60;
  const room = Math.max((last - first) * 0.03, least === DAY ? DAY / 2 : 900);
  const [low, high] = [first - room, last + room];
  const place = (time) => left + ((time - low) / (high - low)) * (width - left - right);
  const rows = clusters.map((cluster) => ({ ...cluster, ...inLanes(cluster.known, place) }));
  const height = rows.reduce((sum, row) => sum + row.height + gap, top);
  const svg = makeSvg("svg", {
    viewBox: `0 0 ${width} ${height + 1}`,
    class: "timeline",
    role: "group",
    "aria-label": "Timeline",
  });
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
    const missing = row.members.length - row.known.length;
    const without = missing ? `${grouped(missing)} without a date` : "";
    svg.append(
      makeSvg("text", { x: 0, y: y + 11 }, `Cluster ${grouped(row.number)}`),
      makeSvg("text", { class: "label", x: 0, y: y + 24 }, without),
      ...row.dots.map((dot) => timelineDot(dot, y + 7 + dot.lane * row.lane, row.isNamed)),
    );
    y += row.height + gap;
    svg.append(makeSvg("line", { x1: 0, x2: width, y1: y - gap / 2, y2: y - gap / 2 }));
  }
  return svg;
}

overview = () => {
  undated.overview();
  const clusters = index.clusters
    .map(({ members }, at) => ({ members, number: at + 1, known: members.filter((n) => index.dates[n]) }))
    .filter(({ known }) => known.length);
  if (!clusters.length) return;
  const isZoned = clusters.some(({ known }) => known.some((n) => handedIn(n).length > 16));
  const hint =
    "When the submissions of each cluster were handed in. Who was first is no proof of who copied." +
    (isZoned ? " The axis is in UTC." : "");
  const drawing = make("div", { class: "scroll" }, timeline(clusters));
  main.querySelector(".charts").after(card("Timeline", hint, drawing));
};

submissions = () => {
  undated.submissions();
  main.querySelector("thead th").after(make("th", { scope: "col" }, "Handed in"));
  main
    .querySelectorAll("tbody tr")
    .forEach((row, n) =>
      row.firstChild.after(make("td", { class: "date", "data-label": "Handed in" }, handedIn(n) || "–")),
    );
};

pairPage = (n) => {
  const shown = undated.pairPage(n); // its head is there at once, the rest when it is loaded
  const sides = [index.pairs[n].left, index.pairs[n].right].map(handedIn);
  if (sides.some(Boolean)) {
    const under = sides.map((date) => make("span", {}, date ? "handed in " + date : ""));
    main.querySelector(".names").after(make("p", { class: "handed" }, under));
  }
  return shown;
};
