// The map of a file next to its text: where its matches are, and which part is on the screen.

/** @import { Match, Range } from "./types" */
import { make } from "./elements.js";
import { COLOURS, colourOf } from "./matches.js";

export class MatchMap {
  /** @param {HTMLElement} scroller What the map belongs to. */
  constructor(scroller) {
    this.scroller = scroller;
    this.canvas = make("canvas", { "aria-hidden": true });
    this.window = make("div", { class: "window" });
    this.element = make("div", { class: "map", onclick: (event) => this.jump(event) }, this.canvas, this.window);
    const options = { passive: true };
    scroller.addEventListener("scroll", () => requestAnimationFrame(() => this.drawWindow()), options);
  }

  /** Draw the matches; their ranges are parts of a total length. */
  /** @param {{ match: Match, range: Range }[]} places @param {number} total @param {Match | null} active */
  draw(places, total, active) {
    const { clientWidth: width, clientHeight: height } = this.element;
    const pen = this.canvas.getContext("2d");
    if (!width || !height || !pen) return;
    const scale = window.devicePixelRatio || 1;
    Object.assign(this.canvas, { width: width * scale, height: height * scale });
    const style = getComputedStyle(document.documentElement);
    const colours = Array.from({ length: COLOURS }, (_, n) => style.getPropertyValue("--c" + n).trim());
    const unit = (height / total) * scale;
    for (const { match, range } of places) {
      const [from, to] = range;
      const inset = match === active ? 0 : 3 * scale;
      pen.globalAlpha = match === active ? 1 : 0.6;
      pen.fillStyle = colours[colourOf(match.number)];
      pen.fillRect(inset, from * unit, width * scale - 2 * inset, Math.max(2 * scale, (to + 1 - from) * unit));
    }
    this.drawWindow();
  }

  drawWindow() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    this.window.hidden = clientHeight >= scrollHeight;
    this.window.style.top = (scrollTop / scrollHeight) * 100 + "%";
    this.window.style.height = Math.min(1, clientHeight / scrollHeight) * 100 + "%";
  }

  /** @param {MouseEvent} event */
  jump(event) {
    const box = this.element.getBoundingClientRect();
    const { scrollHeight, clientHeight } = this.scroller;
    this.scroller.scrollTop = ((event.clientY - box.top) / box.height) * scrollHeight - clientHeight / 2;
  }
}
