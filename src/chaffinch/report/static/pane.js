// One side of a pair: a file with its matches, in blocks of lines, with a map of it.

const BLOCK = 200;
const LINE_HEIGHT = 20;
const PER_LINE = 80; // characters at which lines are broken, about
const AROUND = 2; // lines left around a match when the others are folded
const FEW = 3; // lines that are not worth folding
const PALETTE = 8;

/** Pieces of a file that lie in matches: [start, end, match, is in a run], not overlapping. */
function marksOf(matches, side, active) {
  const cuts = [];
  for (const match of matches) cuts.push([match.start[side], 1, match], [match.end[side], 0, match]);
  cuts.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const marks = [];
  const open = new Set();
  for (let at = 0; at < cuts.length; at += 1) {
    const [place, isStart, match] = cuts[at];
    if (isStart) open.add(match);
    else open.delete(match);
    const next = at + 1 < cuts.length ? cuts[at + 1][0] : place;
    if (!open.size || next === place) continue;
    let inner = open.has(active) ? active : null; // the chosen one is on top, else the shortest
    if (!inner)
      for (const one of open)
        if (!inner || one.end[side] - one.start[side] <= inner.end[side] - inner.start[side]) inner = one;
    let from = place;
    for (const [start, end] of inner.runs[side]) {
      if (end <= from || start >= next) continue;
      if (start > from) marks.push([from, start, inner, false]);
      marks.push([Math.max(start, from), Math.min(end, next), inner, true]);
      from = Math.min(end, next);
    }
    if (from < next) marks.push([from, next, inner, false]);
  }
  return marks;
}

/** The number of the first that lies behind a place; `end` tells where each lies. */
function firstAfter(list, end, place, count = list.length) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end(list[middle], middle) > place) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The caret that a click would set, as a node and a number of characters in it. */
function caret(event) {
  const { clientX: x, clientY: y } = event;
  if (document.caretPositionFromPoint) {
    const found = document.caretPositionFromPoint(x, y);
    return [found?.offsetNode, found?.offset];
  }
  const range = document.caretRangeFromPoint(x, y);
  return [range?.startContainer, range?.startOffset];
}

/** The texts in an element, one after another. */
function textsIn(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) found.push(walker.currentNode);
  return found;
}

class Pane {
  constructor(side, submission, texts, matches, options) {
    Object.assign(this, { side, submission, texts, matches, options, file: -1, active: null });
    this.counts = submission.files.map(
      (_, file) => matches.filter((match) => match.file[side] === file).length,
    );
    this.switcher = make(
      "select",
      { class: "files", "aria-label": "File", onchange: () => this.show(Number(this.switcher.value)) },
      submission.files.map((file, n) =>
        make(
          "option",
          { value: n },
          `${trimmed(file.name, 80)} (${counted(this.counts[n], "match").replace("matchs", "matches")})`,
        ),
      ),
    );
    this.body = make("div", { class: "lines", onclick: (event) => this.clicked(event) });
    this.scroller = make("div", { class: "scroller", tabindex: 0 }, this.body);
    this.canvas = make("canvas", { "aria-hidden": true });
    this.window = make("div", { class: "window" });
    this.map = make("div", { class: "map", onclick: (event) => this.jump(event) }, this.canvas, this.window);
    this.element = make(
      "section",
      { class: "pane" },
      make("div", { class: "head" }, this.switcher),
      make("div", { class: "both" }, this.scroller, this.map),
    );
    this.scroller.addEventListener("scroll", () => requestAnimationFrame(() => this.drawWindow()), {
      passive: true,
    });
    this.watcher = new IntersectionObserver(
      (entries) => entries.forEach((entry) => entry.isIntersecting && this.colour(entry.target)),
      { root: this.scroller, rootMargin: "600px" },
    );
    new ResizeObserver(() => this.drawMap()).observe(this.map);
  }

  show(file) {
    if (file === this.file) return;
    this.file = file;
    this.switcher.value = String(file);
    const { text } = this.texts[file];
    this.text = text;
    this.starts = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.starts.push(at + 1);
    this.here = this.matches.filter((match) => match.file[this.side] === file);
    this.marks = marksOf(this.here, this.side, this.active);
    const ends = this.here.map((match) => [match.start[this.side], match.end[this.side]]);
    ends.sort((a, b) => a[0] - b[0]);
    this.overlap = ends.some(([, end], n) => n + 1 < ends.length && ends[n + 1][0] < end);
    this.parts = new Map(this.texts[file].parts);
    this.ignored = new Set(this.texts[file].ignored.flatMap((range) => this.linesWithin(range)));
    this.tags = new Map();
    for (const match of this.here) {
      const first = this.line(
        match.start[this.side] + text.slice(match.start[this.side], match.end[this.side]).search(/\S|$/),
      );
      if (!this.tags.has(first)) this.tags.set(first, []);
      this.tags.get(first).push(match.number);
    }
    this.tokens = null;
    this.element.classList.toggle("prose", this.submission.files[file].language === "text");
    this.render();
    this.scroller.scrollTop = 0;
    this.scroller.scrollLeft = 0;
  }

  /** The line of a place, from 0. */
  line(place) {
    return Math.max(0, firstAfter(this.starts, (start) => start, place) - 1);
  }

  /** The lines of which nothing but spaces lies outside. */
  linesWithin([start, end]) {
    const found = [];
    for (let n = this.line(start); n < this.starts.length && this.starts[n] < end; n += 1) {
      const [from, to] = [this.starts[n], this.starts[n + 1] ?? this.text.length];
      const outside = this.text.slice(from, Math.max(from, start)) + this.text.slice(Math.min(to, end), to);
      if (!/[\p{L}\p{N}]/u.test(outside)) found.push(n);
    }
    return found;
  }

  /** Which lines are shown, as ranges. */
  shown() {
    const lines = this.starts.length;
    if (!this.options.isFolded) return [[0, lines]];
    const ranges = [];
    const wanted = this.here.map((m) => [
      this.line(m.start[this.side]) - AROUND,
      this.line(Math.max(m.start[this.side], m.end[this.side] - 1)) + AROUND + 1,
    ]);
    for (const [from, to] of wanted.sort((a, b) => a[0] - b[0])) {
      const last = ranges[ranges.length - 1];
      if (last && from <= last[1] + FEW) last[1] = Math.max(last[1], Math.min(lines, to));
      else ranges.push([Math.max(0, from), Math.min(lines, to)]);
    }
    return ranges;
  }

  render() {
    this.watcher.disconnect();
    this.elements = new Array(this.starts.length);
    const made = [];
    let before = 0;
    for (const [from, to] of [...this.shown(), [this.starts.length, this.starts.length]]) {
      if (from > before) made.push(this.fold(before, from));
      for (let at = from; at < to; at += BLOCK) made.push(this.block(at, Math.min(to, at + BLOCK)));
      before = to;
    }
    this.element.classList.toggle("wraps", this.options.wraps);
    this.body.style.setProperty("--digits", String(this.starts.length).length);
    this.body.style.setProperty("--tags", String(this.matches.length).length);
    this.body.replaceChildren(...made);
    made.forEach((block) => block.classList.contains("block") && this.watcher.observe(block));
    this.drawMap();
  }

  fold(from, to) {
    const open = () => {
      const blocks = [];
      for (let at = from; at < to; at += BLOCK) blocks.push(this.block(at, Math.min(to, at + BLOCK)));
      button.replaceWith(...blocks);
      blocks.forEach((block) => this.watcher.observe(block));
    };
    const words = make("span", {}, `… ${counted(to - from, "line")} …`);
    const button = make("button", { class: "fold", onclick: open }, words);
    return button;
  }

  block(from, to) {
    const block = make("div", { class: "block" });
    const characters = (this.starts[to] ?? this.text.length) - this.starts[from];
    const broken = this.options.wraps ? characters / PER_LINE : 0; // as high as it will be, or places move later
    block.style.containIntrinsicSize = `auto 300px auto ${Math.round((to - from + broken) * LINE_HEIGHT)}px`;
    Object.assign(block, { from, to });
    this.fill(block, []);
    return block;
  }

  /** Syntax colours for what is about to be seen. */
  colour(block) {
    this.watcher.unobserve(block);
    if (!this.tokens) this.tokens = tokensOf(this.text, this.submission.files[this.file].language);
    if (this.tokens.length || block.isStale) this.fill(block, this.tokens);
    block.isStale = false;
  }

  fill(block, tokens) {
    const lines = [];
    const from = this.starts[block.from];
    let mark = firstAfter(this.marks, ([, end]) => end, from);
    let token = firstAfter(tokens, (_, n) => tokens[n * 3 + 1], from, tokens.length / 3);
    for (let n = block.from; n < block.to; n += 1) {
      const line = make("div", { class: "line", "data-n": n + 1, "data-part": this.parts.get(n + 1) });
      if (this.ignored.has(n)) line.classList.add("ignored");
      if (this.tags.has(n)) line.append(this.tag(this.tags.get(n)));
      let at = this.starts[n];
      const end = n + 1 < this.starts.length ? this.starts[n + 1] - 1 : this.text.length;
      const add = (to, place) => {
        while (at < to) {
          while (token * 3 < tokens.length && tokens[token * 3 + 1] <= at) token += 1;
          const isPlain = token * 3 >= tokens.length || tokens[token * 3] >= to;
          if (isPlain || tokens[token * 3] > at) {
            const stop = isPlain ? to : tokens[token * 3];
            place.append(visible(this.text.slice(at, stop)));
            at = stop;
          } else {
            const stop = Math.min(to, tokens[token * 3 + 1]);
            place.append(
              make("span", { class: TOKEN_CLASSES[tokens[token * 3 + 2]] }, visible(this.text.slice(at, stop))),
            );
            at = stop;
          }
        }
      };
      while (at < end) {
        while (mark < this.marks.length && this.marks[mark][1] <= at) mark += 1;
        if (mark >= this.marks.length || this.marks[mark][0] >= end) {
          add(end, line);
        } else {
          const [start, stop, match, isRun] = this.marks[mark];
          add(start, line);
          const kind = `m c${(match.number - 1) % PALETTE}${isRun ? " run" : ""}${match === this.active ? " on" : ""}`;
          const piece = make("span", { class: kind, "data-m": match.number });
          add(Math.min(end, stop), piece);
          line.append(piece);
        }
      }
      if (at === this.starts[n]) line.append(make("br")); // else it would be lost when copied
      this.elements[n] = line;
      lines.push(line);
    }
    block.replaceChildren(...lines);
  }

  /** The numbers of the matches that begin in a line, beside its own number. */
  tag([first, ...others]) {
    const text = others.length ? first + "+" : first;
    const title = others.length ? "Matches " + [first, ...others].join(", ") : null;
    return make("span", { class: `tag c${(first - 1) % PALETTE}`, "data-m": first, "data-tag": text, title });
  }

  /** Chooses the match that was clicked; clicked again, the next of those that lie there. */
  clicked(event) {
    const piece = event.target.closest("[data-m]");
    if (!piece || getSelection().toString()) return;
    const line = piece.closest(".line");
    const isTag = piece.classList.contains("tag");
    const place = this.placeOf(event, line);
    const there = isTag
      ? this.tags.get(Number(line.dataset.n) - 1)
      : this.here.filter((m) => m.start[this.side] <= place && place < m.end[this.side]).map((m) => m.number);
    const at = there.indexOf(this.active?.number);
    const number = at < 0 ? Number(piece.dataset.m) : there[(at + 1) % there.length];
    this.options.select(number, this.side, isTag ? this.matches[number - 1].start[this.side] : place);
  }

  /** Where in the text was clicked. */
  placeOf(event, line) {
    const [node, offset] = caret(event);
    let place = this.starts[Number(line.dataset.n) - 1];
    if (!node || !line.contains(node)) return place;
    for (const text of textsIn(line)) {
      if (text === node) return place + offset;
      place += text.length;
    }
    return place;
  }

  /** Where a place is on the screen; nowhere if it is folded. */
  rectangle(place) {
    const n = this.line(place);
    const line = this.elements[n];
    if (!line?.isConnected) return null;
    line.closest(".block").style.contentVisibility = "visible"; // or it may not be laid out yet
    let left = place - this.starts[n];
    for (const text of textsIn(line)) {
      if (left < text.length) {
        const range = document.createRange();
        range.setStart(text, left);
        range.setEnd(text, left + 1);
        return range.getBoundingClientRect();
      }
      left -= text.length;
    }
    return line.getBoundingClientRect();
  }

  /** How far below the top of the pane a place is shown. */
  height(place) {
    const top = this.rectangle(place)?.top ?? 0;
    return top - this.scroller.getBoundingClientRect().top;
  }

  /** Shows a place, so far below the top; again, for what comes into view may have another height. */
  reveal(place, below) {
    const move = () => {
      const found = this.rectangle(place);
      if (!found) return;
      const frame = this.scroller.getBoundingClientRect();
      this.scroller.scrollTop += found.top - frame.top - below;
      if (found.left < frame.left || found.right > frame.right - LINE_HEIGHT)
        this.scroller.scrollLeft += found.left - frame.left - frame.width / 3;
    };
    move();
    requestAnimationFrame(() => (move(), requestAnimationFrame(move)));
  }

  activate(match) {
    const changed = [this.active, match].filter((one) => one && this.here.includes(one));
    this.active = match;
    for (const piece of this.body.querySelectorAll(".on")) piece.classList.remove("on");
    for (const piece of this.body.querySelectorAll(`[data-m="${match.number}"]`)) piece.classList.add("on");
    if (this.overlap) {
      this.marks = marksOf(this.here, this.side, match);
      for (const block of this.body.querySelectorAll(".block")) {
        const [from, to] = [this.starts[block.from], this.starts[block.to] ?? this.text.length + 1];
        if (changed.some((one) => one.start[this.side] < to && one.end[this.side] > from)) {
          block.isStale = true;
          this.watcher.observe(block);
        }
      }
    }
    this.drawMap();
  }

  drawMap() {
    const { clientWidth: width, clientHeight: height } = this.map;
    if (!width || !height || !this.starts) return;
    const scale = window.devicePixelRatio || 1;
    Object.assign(this.canvas, { width: width * scale, height: height * scale });
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const colours = Array.from({ length: PALETTE }, (_, n) => style.getPropertyValue("--c" + n).trim());
    // Lines that are broken are the higher, the longer they are.
    const per = (height / (this.options.wraps ? this.text.length + 1 : this.starts.length)) * scale;
    for (const match of this.here) {
      const ends = [match.start[this.side], match.end[this.side]];
      const [from, to] = this.options.wraps ? ends : ends.map((place) => this.line(place));
      pen.globalAlpha = match === this.active ? 1 : 0.6;
      pen.fillStyle = colours[(match.number - 1) % PALETTE];
      const inset = match === this.active ? 0 : 3 * scale;
      pen.fillRect(inset, from * per, width * scale - 2 * inset, Math.max(2 * scale, (to + 1 - from) * per));
    }
    this.drawWindow();
  }

  drawWindow() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    this.window.hidden = clientHeight >= scrollHeight;
    this.window.style.top = (scrollTop / scrollHeight) * 100 + "%";
    this.window.style.height = Math.min(1, clientHeight / scrollHeight) * 100 + "%";
  }

  jump(event) {
    const box = this.map.getBoundingClientRect();
    this.scroller.scrollTop =
      ((event.clientY - box.top) / box.height) * this.scroller.scrollHeight - this.scroller.clientHeight / 2;
  }
}
