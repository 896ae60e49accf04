// Two drawings of the overview: how alike all pairs are, and who belongs together.

const CHART = { width: 560, height: 200, left: 8, right: 8, top: 14, bottom: 34 };

/** All pairs by score in grey, those listed in colour; by the logarithm, for most pairs have nothing in common. */
function histogram() {
  const all = index.background;
  const bins = all.length || 20;
  const listed = new Array(bins).fill(0);
  for (const pair of index.pairs) listed[Math.min(bins - 1, Math.max(0, Math.floor(pair.score * bins)))] += 1;
  const { width, height, left, right, top, bottom } = CHART;
  const base = height - bottom;
  const step = (width - left - right) / bins;
  const most = Math.max(1, ...all, ...listed);
  const tall = (n) => (n ? Math.max(2, (Math.log1p(n) / Math.log1p(most)) * (base - top)) : 0);
  const bar = (kind, n, bin) =>
    makeSvg("rect", {
      class: kind,
      x: left + bin * step + 1,
      y: base - tall(n),
      width: step - 2,
      height: tall(n),
      rx: 1.5,
    });
  const svg = makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "histogram" });
  const from = (bin) => Math.round((bin / bins) * 100);
  for (let bin = 0; bin < bins; bin += 1) {
    const n = Math.max(all[bin] || 0, listed[bin]);
    const words = `Score ${from(bin)} to ${from(bin + 1)}%: ${counted(n, "pair")}, ${grouped(listed[bin])} listed`;
    const whole = makeSvg("rect", {
      class: "hit",
      x: left + bin * step,
      y: top,
      width: step,
      height: base - top,
    });
    svg.append(
      makeSvg("g", {}, makeSvg("title", {}, words), whole, bar("all", n, bin), bar("listed", listed[bin], bin)),
    );
    if (n)
      svg.append(
        makeSvg("text", { class: "count", x: left + (bin + 0.5) * step, y: base - tall(n) - 4 }, short(n)),
      );
  }
  svg.append(makeSvg("line", { class: "axis", x1: left, x2: width - right, y1: base, y2: base }));
  for (const pair of index.pairs.slice(0, 2000)) {
    const x = left + Math.min(1, Math.max(0, pair.score)) * (width - left - right);
    svg.append(makeSvg("line", { class: "tick", x1: x, x2: x, y1: base + 3, y2: base + 10 }));
  }
  for (const share of [0, 25, 50, 75, 100]) {
    const x = left + (share / 100) * (width - left - right);
    const anchor = share === 0 ? "start" : share === 100 ? "end" : "middle";
    svg.append(makeSvg("text", { class: "label", x, y: height - 8, "text-anchor": anchor }, share + "%"));
  }
  return svg;
}

const short = (n) =>
  n < 10000 ? String(n) : n < 1e6 ? Math.round(n / 1000) + "k" : (n / 1e6).toFixed(1) + "M";

/** Submissions of clusters as dots, pairs as lines between them; either can be opened. */
function clusterGraph() {
  const { width, height, nodes } = index.graph;
  const svg = makeSvg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "graph",
    role: "group",
    "aria-label": "Clusters",
  });
  svg.style.maxWidth = width * 1.2 + "px";
  const scale = Math.max(1, width / 560, height / 330); // how much smaller it is shown, so how much larger dots are drawn
  svg.style.fontSize = 10 * scale + "px";
  const places = new Map(nodes.map(([n, x, y]) => [n, { x, y }]));
  const group = new Map(index.clusters.flatMap((cluster, at) => cluster.members.map((n) => [n, at])));
  index.pairs.forEach((pair, n) => {
    const [a, b] = [places.get(pair.left), places.get(pair.right)];
    if (!a || !b || group.get(pair.left) !== group.get(pair.right)) return;
    const ends = { x1: a.x, y1: a.y, x2: b.x, y2: b.y };
    const [left, right] = [pair.left, pair.right].map((at) => index.submissions[at].name);
    const line = makeSvg("line", { ...ends, class: "edge" });
    line.style.strokeWidth = 1 + 5 * pair.score;
    line.style.strokeOpacity = 0.25 + 0.65 * pair.score;
    const words = visible(`${left} and ${right}: ${percent(pair.score)}`);
    svg.append(
      makeSvg(
        "a",
        { href: "#/pair/" + n, "aria-label": words, tabindex: -1 },
        makeSvg("title", {}, words),
        line,
        makeSvg("line", { ...ends, class: "near" }),
      ),
    );
  });
  const isLabelled = scale < 2.2;
  // Names stand outside, above the upper submissions of a cluster and below the others, where there is room.
  const middles = index.clusters.map(
    ({ members }) => members.reduce((sum, n) => sum + (places.get(n)?.y || 0), 0) / members.length,
  );
  const taken = nodes.map(([, x, y]) => [x - 7 * scale, y - 7 * scale, x + 7 * scale, y + 7 * scale]);
  for (const [n, x, y] of nodes) {
    const name = visible(index.submissions[n].name);
    const link = makeSvg(
      "a",
      { href: "#/student/" + n, "aria-label": name, tabindex: -1 }, // the table has them all
      makeSvg("title", {}, name),
      makeSvg("circle", { cx: x, cy: y, r: (isLabelled ? 7 : 5) * scale }),
    );
    const label = trimmed(name, 14);
    const half = label.length * 3 * scale;
    const middle = Math.min(Math.max(x, half), Math.max(half, width - half));
    const outside = y < middles[group.get(n)] - 1 ? [-12, 19] : [19, -12];
    for (const base of isLabelled ? outside.map((by) => y + by * scale) : []) {
      const box = [middle - half, base - 9 * scale, middle + half, base + 2 * scale];
      if (taken.some(([l, t, r, b]) => l < box[2] && r > box[0] && t < box[3] && b > box[1])) continue;
      taken.push(box);
      link.append(makeSvg("text", { x: middle, y: base }, label));
      break;
    }
    svg.append(link);
  }
  return svg;
}

/** A name of so many characters at most, without its middle: names often differ at the end. */
function trimmed(text, size) {
  const characters = Array.from(visible(text));
  if (characters.length <= size) return characters.join("");
  const half = Math.floor(size / 2);
  return [...characters.slice(0, half), "…", ...characters.slice(half + 1 - size)].join("");
}
