// Syntax colours for any language, from the same table that the comparison reads the language with.

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

/** @typedef {(text: string, position: number) => { inner: number, close: string } | null} FindEnding */

/**
 * What opens a comment or a string.
 * @typedef {object} Opening
 * @property {number} type
 * @property {string} open
 * @property {string} [close]
 * @property {string} [escape]
 * @property {boolean} [nests]
 * @property {boolean} [doubles] A doubled closing mark does not close.
 * @property {boolean} [isFirst] It must be the first thing in its line.
 * @property {boolean} [isCharacter]
 * @property {boolean} [spansLines]
 * @property {FindEnding} [findEnding]
 */

/**
 * @typedef {object} Syntax
 * @property {Map<string, Opening[]>} openings By their first character, longest first.
 * @property {Set<string>} keywords
 * @property {boolean} ignoresCase
 * @property {string} columnComments Characters in the first column that make the line a comment.
 * @property {RegExp} name
 */

/**
 * Prepare the records of a language.
 * @param {string} language
 * @returns {Syntax | null}
 */
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
  const name = new RegExp(
    `[\\p{L}_${quoted(startsName)}][\\p{L}\\p{N}_${quoted(startsName + insideName)}]*`,
    "uy",
  );
  return { openings, keywords, ignoresCase, columnComments, name };
}

/**
 * @param {string} kind
 * @param {string[]} fields
 * @returns {Opening | null}
 */
function openingOf(kind, fields) {
  const [open, second, third, fourth, fifth] = fields;
  if (kind === "line-comment")
    return { type: COMMENT, open, close: "\n", isFirst: second === "1", spansLines: true };
  if (kind === "block-comment")
    return {
      type: COMMENT,
      open,
      close: second,
      nests: third === "1",
      isFirst: fourth === "1",
      spansLines: true,
    };
  if (kind === "string")
    return {
      type: STRING,
      open,
      close: second,
      escape: third,
      doubles: fourth === "1",
      spansLines: fifth === "1",
    };
  if (kind === "char") return { type: STRING, open, close: open.slice(-1), escape: second, isCharacter: true };
  if (kind === "fenced")
    return { type: STRING, open, findEnding: fenceEnding(second, third, fourth), spansLines: true };
  if (kind === "tagged") return { type: STRING, open, findEnding: tagEnding, spansLines: true };
  return null;
}

/**
 * Find what closes r##"text"## or [==[text]==] and where the text begins.
 * @param {string} fence
 * @param {string} quote
 * @param {string} close
 * @returns {FindEnding}
 */
function fenceEnding(fence, quote, close) {
  return (text, position) => {
    let inner = position;
    while (text[inner] === fence) inner += 1;
    const fences = fence.repeat(inner - position);
    return text[inner] === quote
      ? { inner: inner + 1, close: close + fences + (close === quote ? "" : close) }
      : null;
  };
}

/**
 * Find what closes R"tag(text)tag".
 * @type {FindEnding}
 */
function tagEnding(text, position) {
  const tag = text.slice(position, position + 17).indexOf("(");
  return tag < 0
    ? null
    : { inner: position + tag + 1, close: ")" + text.slice(position, position + tag) + '"' };
}

/**
 * Find where a comment or string ends. If it is not closed, it ends with its line.
 * @param {string} text
 * @param {Opening} opening
 * @param {number} at
 */
function endOf(text, opening, at) {
  const { open, close = "", escape } = opening;
  let depth = 1;
  let position = at + open.length;
  const newline = text.indexOf("\n", position);
  const lineEnd = newline < 0 ? text.length : newline;
  if (close === "\n") return lineEnd;
  const limit = opening.spansLines ? text.length : lineEnd;
  if (opening.findEnding) {
    const ending = opening.findEnding(text, position);
    const end = ending ? text.indexOf(ending.close, ending.inner) : -1;
    return ending && end >= 0 ? end + ending.close.length : at;
  }
  if (opening.isCharacter) {
    const isEscaped = Boolean(escape) && text.startsWith(escape ?? "", position);
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

/**
 * Return the tokens that get a colour: start, end and kind of each, one after another.
 * @param {string} text
 * @param {string} language
 * @returns {number[]}
 */
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
      isFirst = isFirst || char === "\n";
      at += 1;
      continue;
    }
    if ((at === 0 || text[at - 1] === "\n") && syntax.columnComments.includes(char)) {
      const newline = text.indexOf("\n", at);
      const end = newline < 0 ? text.length : newline;
      tokens.push(at, end, COMMENT);
      at = end;
      continue;
    }
    const opening = syntax.openings
      .get(char)
      ?.find((one) => text.startsWith(one.open, at) && (isFirst || !one.isFirst));
    isFirst = false;
    const closed = opening ? endOf(text, opening, at) : at;
    if (opening && closed > at) {
      tokens.push(at, closed, opening.type);
      at = closed;
      continue;
    }
    syntax.name.lastIndex = DIGITS.lastIndex = at;
    const word = syntax.name.exec(text)?.[0];
    if (word) {
      if (syntax.keywords.has(syntax.ignoresCase ? word.toLowerCase() : word))
        tokens.push(at, at + word.length, KEYWORD);
      at += word.length;
      continue;
    }
    const end = DIGITS.test(text) ? DIGITS.lastIndex : at + 1;
    if (end > at + 1 || (char >= "0" && char <= "9")) tokens.push(at, end, NUMBER);
    at = end;
  }
  return tokens;
}
