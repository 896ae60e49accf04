// Syntax colours for any language, from the same table that the comparison reads the language with.

/** @import { FindEnding, Opening, Syntax } from "./types" */
import { index } from "./data.js";

const KEYWORD = 1;
const COMMENT = 2;
const STRING = 3;
const NUMBER = 4;
/** The classes of these kinds. */
export const TOKEN_CLASSES = ["", "k", "o", "s", "d"];
/** Characters. Longer files get no colours. */
const LONGEST_TEXT = 5e6;
/** Characters between the quotes of a character literal, and of one that begins with an escape. */
const CHARACTER = 2;
const ESCAPED_CHARACTER = 12;

/** Prepare the records of a language. @param {string} language @returns {Syntax | null} */
function syntaxOf(language) {
  const records = index.languages[language];
  if (!records) return null;
  /** @type {Map<string, Opening[]>} */
  const openings = new Map();
  let keywords = new Set();
  let [ignoresCase, startsName, insideName, columnComments] = [false, "", "", ""];
  for (const [kind, ...fields] of records) {
    if (kind === "ignore-case") ignoresCase = true;
    else if (kind === "starts-name") startsName = fields[0];
    else if (kind === "inside-name") insideName = fields[0];
    else if (kind === "keyword") keywords.add(fields[0]);
    else if (kind === "columns") columnComments = fields[0];
    const opening = openingOf(kind, fields);
    if (!opening?.open || opening.open === "\\") continue; // to a reader, a continued line is no comment
    const first = opening.open[0];
    openings.set(first, [...(openings.get(first) ?? []), opening]);
  }
  for (const list of openings.values()) list.sort((a, b) => b.open.length - a.open.length);
  if (ignoresCase) keywords = new Set([...keywords].map((word) => word.toLowerCase()));
  /** @param {string} text */
  const quoted = (text) => text.replace(/[\\\]^-]/g, "\\$&");
  const name = new RegExp(`[\\p{L}_${quoted(startsName)}][\\p{L}\\p{N}_${quoted(startsName + insideName)}]*`, "uy");
  return { openings, keywords, ignoresCase, columnComments, name };
}

/** @param {string} kind @param {string[]} fields @returns {Opening | null} */
function openingOf(kind, fields) {
  const [open, second, third, fourth, fifth] = fields;
  const comment = { type: COMMENT, open, spansLines: true };
  const string = { type: STRING, open, spansLines: true };
  if (kind === "line-comment") return { ...comment, close: "\n", isFirst: second === "1" };
  if (kind === "block-comment") return { ...comment, close: second, nests: third === "1", isFirst: fourth === "1" };
  if (kind === "string")
    return { ...string, close: second, escape: third, doubles: fourth === "1", spansLines: fifth === "1" };
  if (kind === "char")
    return { ...string, close: open.slice(-1), escape: second, isCharacter: true, spansLines: false };
  if (kind === "fenced") return { ...string, findEnding: fenceEnding(second, third, fourth) };
  return kind === "tagged" ? { ...string, findEnding: tagEnding } : null;
}

/** Find what closes r##"text"## or [==[text]==] and where the text begins. */
/** @param {string} fence @param {string} quote @param {string} close @returns {FindEnding} */
function fenceEnding(fence, quote, close) {
  return (text, position) => {
    let inner = position;
    while (text[inner] === fence) inner += 1;
    const fences = fence.repeat(inner - position);
    const closing = close + fences + (close === quote ? "" : close);
    return text[inner] === quote ? { inner: inner + 1, close: closing } : null;
  };
}

/** Find what closes R"tag(text)tag". @type {FindEnding} */
function tagEnding(text, position) {
  const tag = text.slice(position, position + 17).indexOf("(");
  return tag < 0 ? null : { inner: position + tag + 1, close: ")" + text.slice(position, position + tag) + '"' };
}

/** @param {string} text @param {number} position */
function lineEndAfter(text, position) {
  const newline = text.indexOf("\n", position);
  return newline < 0 ? text.length : newline;
}

/** Find where a comment or string ends. If it is not closed, it ends with its line. */
/** @param {string} text @param {Opening} opening @param {number} at */
function endOf(text, opening, at) {
  const { open, close = "", escape = "" } = opening;
  let depth = 1;
  let position = at + open.length;
  const lineEnd = lineEndAfter(text, position);
  if (close === "\n") return lineEnd;
  const limit = opening.spansLines ? text.length : lineEnd;
  if (opening.findEnding) {
    const ending = opening.findEnding(text, position);
    const end = ending ? text.indexOf(ending.close, ending.inner) : -1;
    return ending && end >= 0 ? end + ending.close.length : at;
  }
  if (opening.isCharacter) {
    const isEscaped = escape !== "" && text.startsWith(escape, position);
    const end = text.indexOf(close, position + (isEscaped ? 2 : 1));
    const last = Math.min(limit, position + (isEscaped ? ESCAPED_CHARACTER : CHARACTER));
    return end >= 0 && end <= last ? end + 1 : at;
  }
  if (!escape && !opening.nests && !opening.doubles) {
    const end = text.indexOf(close, position);
    return end >= 0 && end + close.length <= limit ? end + close.length : lineEnd;
  }
  while (position < limit) {
    if (escape && text.startsWith(escape, position)) position += escape.length + 1;
    else if (text.startsWith(close, position)) {
      position += close.length;
      if (opening.doubles && text.startsWith(close, position)) position += close.length;
      else if ((depth -= 1) === 0) return position;
    } else if (opening.nests && text.startsWith(open, position)) {
      position += open.length;
      depth += 1;
    } else position += 1;
  }
  return lineEnd;
}

const DIGITS = /\d(?:[eE][+-]\d|[\w.])*/y;

/** Return where the token at a position ends, and its kind: 0 if it gets no colour. */
/** @type {(text: string, at: number, syntax: Syntax, isFirst: boolean) => [end: number, kind: number]} */
function tokenAt(text, at, syntax, isFirst) {
  const isColumn = at === 0 || text[at - 1] === "\n";
  if (isColumn && syntax.columnComments.includes(text[at])) return [lineEndAfter(text, at), COMMENT];
  const openings = syntax.openings.get(text[at]) ?? [];
  const opening = openings.find((one) => text.startsWith(one.open, at) && (isFirst || !one.isFirst));
  const closed = opening ? endOf(text, opening, at) : at;
  if (opening && closed > at) return [closed, opening.type];
  syntax.name.lastIndex = DIGITS.lastIndex = at;
  const word = syntax.name.exec(text)?.[0];
  if (!word) return DIGITS.test(text) ? [DIGITS.lastIndex, NUMBER] : [at + 1, 0];
  const isKeyword = syntax.keywords.has(syntax.ignoresCase ? word.toLowerCase() : word);
  return [at + word.length, isKeyword ? KEYWORD : 0];
}

/** Return start, end and kind of each token that gets a colour. @param {string} text @param {string} language */
export function tokensOf(text, language) {
  const syntax = syntaxOf(language);
  /** @type {number[]} */
  const tokens = [];
  if (!syntax || text.length > LONGEST_TEXT) return tokens;
  let isFirst = true;
  let at = 0;
  while (at < text.length) {
    const char = text[at];
    if (char === "\n" || char === " " || char === "\t" || char === "\r") {
      isFirst ||= char === "\n";
      at += 1;
      continue;
    }
    const [end, kind] = tokenAt(text, at, syntax, isFirst);
    if (kind) tokens.push(at, end, kind);
    isFirst = false;
    at = end;
  }
  return tokens;
}
