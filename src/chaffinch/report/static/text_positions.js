// Positions in a text, and where they are on the screen.

/** Return where each line begins. @param {string} text */
export function lineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Yield the texts in an element and where each begins. @param {Element} element */
function* textsIn(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let start = 0;
  while (walker.nextNode()) {
    const text = /** @type {Text} */ (walker.currentNode);
    yield { text, start };
    start += text.length;
  }
}

/** Return the box of a character, or of a shorter element. @param {Element} element @param {number} position */
export function boxOf(element, position) {
  for (const { text, start } of textsIn(element)) {
    if (position < start + text.length) {
      const range = document.createRange();
      range.setStart(text, position - start);
      range.setEnd(text, position - start + 1);
      return range.getBoundingClientRect();
    }
  }
  return element.getBoundingClientRect();
}

/** Return the position that was clicked in an element whose first character has a known position. */
/** @param {MouseEvent} event @param {Element} element @param {number} first */
export function clickedPosition(event, element, first) {
  const { node, offset } = caretAt(event);
  for (const { text, start } of textsIn(element)) if (text === node) return first + start + offset;
  return first;
}

/** Return the caret that a click would set, as a node and an offset in it. */
/** @param {MouseEvent} event @returns {{ node?: Node, offset: number }} */
function caretAt({ clientX: x, clientY: y }) {
  if (typeof document.caretPositionFromPoint === "function") {
    const caret = document.caretPositionFromPoint(x, y);
    return { node: caret?.offsetNode, offset: caret?.offset ?? 0 };
  }
  const range = document.caretRangeFromPoint(x, y);
  return { node: range?.startContainer, offset: range?.startOffset ?? 0 };
}
