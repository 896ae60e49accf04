// One side of a pair: a file with its matches, drawn in blocks of lines.

/** @import { Block, DocumentText, Mark, Match, PaneOptions, Range, Side, Submission } from "./types" */
import { make, targetIn } from "./elements.js";
import { counted, trimmed, visible } from "./format.js";
import { TOKEN_CLASSES, tokensOf } from "./highlight.js";
import { MatchMap } from "./match_map.js";
import { colourOf, firstAfter, marksOf } from "./matches.js";
import { boxOf, clickedPosition, lineStarts } from "./text_positions.js";

/** Lines. */
const BLOCK_SIZE = 200;
/** Pixels. */
const LINE_HEIGHT = 20;
/** Characters, about; longer lines are broken. */
const WRAPPED_LENGTH = 80;
/** Lines around a match that stay when the others are folded. */
const CONTEXT = 2;
/** Lines. Fewer are not worth folding. */
const SHORTEST_FOLD = 3;

export class Pane {
  file = -1;
  text = "";
  /** Where each line begins. */
  starts = [0];
  /** The element of each line that is drawn. @type {HTMLElement[]} */
  lines = [];
  /** The matches in this file. @type {Match[]} */
  here = [];
  /** @type {Mark[]} */
  marks = [];
  overlaps = false;
  /** @type {Match | null} */
  active = null;
  /** The labels of pages and cells by line, counted from 1. @type {Map<number, string>} */
  parts = new Map();
  /** Lines that were not compared. @type {Set<number>} */
  ignored = new Set();
  /** The numbers of the matches that begin in each line. @type {Map<number, number[]>} */
  tags = new Map();
  /** Start, end and kind of each token, once they are needed. @type {number[] | null} */
  tokens = null;

  /**
   * @param {Side} side @param {Submission} submission @param {DocumentText[]} texts
   * @param {Match[]} matches @param {PaneOptions} options
   */
  constructor(side, submission, texts, matches, options) {
    this.side = side;
    this.submission = submission;
    this.texts = texts;
    this.matches = matches;
    this.options = options;
    const files = submission.files.map(({ name }, file) => {
      const count = matches.filter((match) => match.file[side] === file).length;
      return make("option", { value: file }, `${trimmed(name, 80)} (${counted(count, "match", "matches")})`);
    });
    const onchange = () => this.show(Number(this.switcher.value));
    this.switcher = make("select", { class: "files", "aria-label": "File", onchange }, files);
    this.body = make("div", { class: "lines", onclick: (event) => this.click(event) });
    this.scroller = make("div", { class: "scroller", tabindex: 0 }, this.body);
    this.map = new MatchMap(this.scroller);
    const body = make("div", { class: "pane-body" }, this.scroller, this.map.element);
    this.element = make("section", { class: "pane" }, make("div", { class: "head" }, this.switcher), body);
    /** @param {IntersectionObserverEntry[]} entries */
    const colourVisible = (entries) =>
      entries.forEach((entry) => entry.isIntersecting && this.colour(/** @type {Block} */ (entry.target)));
    this.watcher = new IntersectionObserver(colourVisible, { root: this.scroller, rootMargin: "600px" });
    new ResizeObserver(() => this.drawMap()).observe(this.map.element);
  }

  /** Show a file of the submission. @param {number} file */
  show(file) {
    if (file === this.file) return;
    this.file = file;
    this.switcher.value = String(file);
    const { text, parts, ignored } = this.texts[file];
    this.text = text;
    this.starts = lineStarts(text);
    this.here = this.matches.filter((match) => match.file[this.side] === file);
    this.marks = marksOf(this.here, this.side, this.active);
    const ranges = this.here.map((match) => this.rangeOf(match)).sort((a, b) => a[0] - b[0]);
    this.overlaps = ranges.some(([, end], n) => n + 1 < ranges.length && ranges[n + 1][0] < end);
    this.parts = new Map(parts);
    this.ignored = new Set(ignored.flatMap((range) => this.linesWithin(range)));
    this.tags = new Map();
    for (const match of this.here) {
      const [start, end] = this.rangeOf(match);
      const line = this.lineOf(start + text.slice(start, end).search(/\S|$/));
      this.tags.set(line, [...(this.tags.get(line) ?? []), match.number]);
    }
    this.tokens = null;
    this.element.classList.toggle("prose", this.submission.files[file].language === "text");
    this.render();
    this.scroller.scrollTop = 0;
    this.scroller.scrollLeft = 0;
  }

  /** @param {Match} match @returns {Range} */
  rangeOf(match) {
    return [match.start[this.side], match.end[this.side]];
  }

  /** Return the line of a position, counted from 0. @param {number} position */
  lineOf(position) {
    return Math.max(0, firstAfter(this.starts.length, (n) => this.starts[n], position) - 1);
  }

  /** Return the lines that have no letter or digit outside a range. @param {Range} range */
  linesWithin([start, end]) {
    const lines = [];
    for (let n = this.lineOf(start); n < this.starts.length && this.starts[n] < end; n += 1) {
      const [from, to] = [this.starts[n], this.starts[n + 1] ?? this.text.length];
      const outside = this.text.slice(from, Math.max(from, start)) + this.text.slice(Math.min(to, end), to);
      if (!/[\p{L}\p{N}]/u.test(outside)) lines.push(n);
    }
    return lines;
  }

  /** Return the ranges of lines that are not folded. @returns {Range[]} */
  unfolded() {
    const count = this.starts.length;
    if (!this.options.isFolded) return [[0, count]];
    /** @type {Range[]} */
    const ranges = [];
    const wanted = this.here.map((match) => {
      const [start, end] = this.rangeOf(match);
      return [this.lineOf(start) - CONTEXT, this.lineOf(Math.max(start, end - 1)) + CONTEXT + 1];
    });
    for (const [from, to] of wanted.sort((a, b) => a[0] - b[0])) {
      const last = ranges.at(-1);
      if (last && from <= last[1] + SHORTEST_FOLD) last[1] = Math.max(last[1], Math.min(count, to));
      else ranges.push([Math.max(0, from), Math.min(count, to)]);
    }
    return ranges;
  }

  /** Draw the file. */
  render() {
    this.watcher.disconnect();
    this.lines = new Array(this.starts.length);
    this.body.replaceChildren();
    this.element.classList.toggle("wraps", this.options.wraps);
    this.body.style.setProperty("--digits", String(String(this.starts.length).length));
    this.body.style.setProperty("--tags", String(String(this.matches.length).length));
    let shown = 0;
    for (const [from, to] of this.unfolded()) {
      if (from > shown) this.body.append(this.fold(shown, from));
      this.body.append(...this.blocks(from, to));
      shown = to;
    }
    if (shown < this.starts.length) this.body.append(this.fold(shown, this.starts.length));
    this.drawMap();
  }

  /** Build a button that replaces folded lines and shows them again. @param {number} from @param {number} to */
  fold(from, to) {
    const label = make("span", {}, `… ${counted(to - from, "line")} …`);
    const unfold = () => button.replaceWith(...this.blocks(from, to));
    const button = make("button", { class: "fold", onclick: unfold }, label);
    return button;
  }

  /** @param {number} from @param {number} to */
  blocks(from, to) {
    const blocks = [];
    for (let at = from; at < to; at += BLOCK_SIZE) blocks.push(this.block(at, Math.min(to, at + BLOCK_SIZE)));
    return blocks;
  }

  /** @param {number} from @param {number} to @returns {Block} */
  block(from, to) {
    const block = Object.assign(make("div", { class: "block" }), { from, to, isStale: false });
    const characters = (this.starts[to] ?? this.text.length) - this.starts[from];
    const broken = this.options.wraps ? characters / WRAPPED_LENGTH : 0; // a wrong height would move lines later
    block.style.containIntrinsicSize = `auto 300px auto ${Math.round((to - from + broken) * LINE_HEIGHT)}px`;
    this.fill(block, []);
    this.watcher.observe(block);
    return block;
  }

  /** Add syntax colours to a block that is about to come into view. @param {Block} block */
  colour(block) {
    this.watcher.unobserve(block);
    this.tokens ??= tokensOf(this.text, this.submission.files[this.file].language);
    if (this.tokens.length || block.isStale) this.fill(block, this.tokens);
    block.isStale = false;
  }

  /** Draw the lines of a block. @param {Block} block @param {number[]} tokens */
  fill(block, tokens) {
    const from = this.starts[block.from];
    let mark = firstAfter(this.marks.length, (n) => this.marks[n].end, from);
    let token = 3 * firstAfter(tokens.length / 3, (n) => tokens[3 * n + 1], from);
    let at = from;
    /** Add the text up to a position to an element, with its colours. @param {number} to @param {Element} place */
    const add = (to, place) => {
      while (at < to) {
        while (token < tokens.length && tokens[token + 1] <= at) token += 3;
        const [start, end] = token < tokens.length ? [tokens[token], tokens[token + 1]] : [to, to];
        const stop = Math.min(to, start > at ? start : end);
        const text = visible(this.text.slice(at, stop));
        place.append(start > at ? text : make("span", { class: TOKEN_CLASSES[tokens[token + 2]] }, text));
        at = stop;
      }
    };
    const lines = [];
    for (let n = block.from; n < block.to; n += 1) {
      const line = make("div", { class: "line", "data-n": n + 1, "data-part": this.parts.get(n + 1) });
      if (this.ignored.has(n)) line.classList.add("ignored");
      const numbers = this.tags.get(n);
      if (numbers) line.append(this.tag(numbers));
      at = this.starts[n];
      const end = n + 1 < this.starts.length ? this.starts[n + 1] - 1 : this.text.length;
      while (at < end) {
        while (mark < this.marks.length && this.marks[mark].end <= at) mark += 1;
        const next = this.marks[mark];
        if (!next || next.start >= end) {
          add(end, line);
        } else {
          add(next.start, line);
          const piece = this.piece(next);
          add(Math.min(end, next.end), piece);
          line.append(piece);
        }
      }
      if (at === this.starts[n]) line.append(make("br")); // without it, copied text would lose the line
      this.lines[n] = line;
      lines.push(line);
    }
    block.replaceChildren(...lines);
  }

  /** @param {Mark} mark */
  piece({ match, isRun }) {
    const kind = `m c${colourOf(match.number)}${isRun ? " run" : ""}${match === this.active ? " on" : ""}`;
    return make("span", { class: kind, "data-m": match.number });
  }

  /** Build the tag of a line with the numbers of the matches that begin there. @param {number[]} numbers */
  tag([first, ...others]) {
    const text = others.length ? first + "+" : first;
    const title = others.length ? "Matches " + [first, ...others].join(", ") : null;
    return make("span", { class: `tag c${colourOf(first)}`, "data-m": first, "data-tag": text, title });
  }

  /** Choose the match that was clicked; another click chooses the next one there. @param {MouseEvent} event */
  click(event) {
    const piece = targetIn(event, "[data-m]");
    const line = targetIn(event, ".line");
    if (!piece || !line || getSelection()?.toString()) return;
    const isTag = piece.classList.contains("tag");
    const position = clickedPosition(event, line, this.starts[Number(line.dataset.n) - 1]);
    /** @param {Match} match */
    const isThere = (match) => match.start[this.side] <= position && position < match.end[this.side];
    const numbers = isTag
      ? (this.tags.get(Number(line.dataset.n) - 1) ?? [])
      : this.here.filter(isThere).map((match) => match.number);
    const at = this.active ? numbers.indexOf(this.active.number) : -1;
    const number = at < 0 ? Number(piece.dataset.m) : numbers[(at + 1) % numbers.length];
    this.options.select(number, this.side, isTag ? this.matches[number - 1].start[this.side] : position);
  }

  /** Return where a position is on the screen, or null if it is folded. @param {number} position */
  rectangle(position) {
    const n = this.lineOf(position);
    const line = this.lines[n];
    const block = line?.closest(".block");
    if (!(block instanceof HTMLElement) || !line.isConnected) return null;
    block.style.contentVisibility = "visible"; // otherwise it may have no layout yet
    return boxOf(line, position - this.starts[n]);
  }

  /** Return how many pixels below the top of the pane a position is. @param {number} position */
  depth(position) {
    return (this.rectangle(position)?.top ?? 0) - this.scroller.getBoundingClientRect().top;
  }

  /** Scroll a position to a depth below the top of the pane. @param {number} position @param {number} depth */
  reveal(position, depth) {
    const move = () => {
      const box = this.rectangle(position);
      if (!box) return;
      const frame = this.scroller.getBoundingClientRect();
      this.scroller.scrollTop += box.top - frame.top - depth;
      if (box.left < frame.left || box.right > frame.right - LINE_HEIGHT)
        this.scroller.scrollLeft += box.left - frame.left - frame.width / 3;
    };
    move();
    requestAnimationFrame(() => (move(), requestAnimationFrame(move))); // blocks change height as they come into view
  }

  /** Make a match stand out. @param {Match} match */
  activate(match) {
    const changed = [this.active, match].filter((one) => one !== null && this.here.includes(one));
    this.active = match;
    for (const piece of this.body.querySelectorAll(".on")) piece.classList.remove("on");
    for (const piece of this.body.querySelectorAll(`[data-m="${match.number}"]`)) piece.classList.add("on");
    if (this.overlaps) {
      this.marks = marksOf(this.here, this.side, match);
      for (const block of /** @type {NodeListOf<Block>} */ (this.body.querySelectorAll(".block"))) {
        const [from, to] = [this.starts[block.from], this.starts[block.to] ?? this.text.length + 1];
        if (changed.some((one) => one && one.start[this.side] < to && one.end[this.side] > from)) {
          block.isStale = true;
          this.watcher.observe(block);
        }
      }
    }
    this.drawMap();
  }

  drawMap() {
    // Broken lines are higher the longer they are, so then the map counts characters instead of lines.
    const { wraps } = this.options;
    const places = this.here.map((match) => {
      const [start, end] = this.rangeOf(match);
      /** @type {Range} */
      const range = wraps ? [start, end] : [this.lineOf(start), this.lineOf(end)];
      return { match, range };
    });
    this.map.draw(places, wraps ? this.text.length + 1 : this.starts.length, this.active);
  }
}
