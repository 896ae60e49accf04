// Syntax colours for any language, by the same table that the comparison reads it with.

const KEYWORD = 1;
const COMMENT = 2;
const STRING = 3;
const NUMBER = 4;
const TOKEN_CLASSES = ["", "k", "o", "s", "d"];

/** The records of a language, made ready: what may open at a character, the longest first. */
function syntaxOf(language) {
  const records = index.languages[language];
  if (!records) return null;
  const syntax = {
    openings: new Map(),
    keywords: new Set(),
    ignoresCase: false,
    starts: "",
    inside: "",
    columns: null,
  };
  const add = (opening) => {
    if (!opening.open || opening.open === "\\") return; // a line that goes on is no comment to a reader
    const at = opening.open[0];
    if (!syntax.openings.has(at)) syntax.openings.set(at, []);
    syntax.openings.get(at).push(opening);
  };
  for (const [kind, ...fields] of records) {
    if (kind === "ignore-case") syntax.ignoresCase = true;
    else if (kind === "starts-name") syntax.starts = fields[0];
    else if (kind === "inside-name") syntax.inside = fields[0];
    else if (kind === "keyword") syntax.keywords.add(fields[0]);
    else if (kind === "line-comment")
      add({ type: COMMENT, open: fields[0], close: "\n", isFirst: fields[1] === "1", spans: true });
    else if (kind === "block-comment")
      add({
        type: COMMENT,
        open: fields[0],
        close: fields[1],
        nests: fields[2] === "1",
        isFirst: fields[3] === "1",
        spans: true,
      });
    else if (kind === "string")
      add({
        type: STRING,
        open: fields[0],
        close: fields[1],
        escape: fields[2],
        doubles: fields[3] === "1",
        spans: fields[4] === "1",
      });
    else if (kind === "char")
      add({ type: STRING, open: fields[0], close: fields[0].slice(-1), escape: fields[1], isChar: true });
    else if (kind === "fenced")
      add({ type: STRING, open: fields[0], ending: fenceEnding(fields), spans: true });
    else if (kind === "tagged") add({ type: STRING, open: fields[0], ending: tagEnding, spans: true });
    else if (kind === "columns") syntax.columns = { comment: fields[0] };
  }
  if (syntax.ignoresCase) syntax.keywords = new Set([...syntax.keywords].map((word) => word.toLowerCase()));
  for (const openings of syntax.openings.values()) openings.sort((a, b) => b.open.length - a.open.length);
  const quoted = (text) => text.replace(/[\\\]^-]/g, "\\$&");
  syntax.name = new RegExp(
    `[\\p{L}_${quoted(syntax.starts)}][\\p{L}\\p{N}_${quoted(syntax.starts + syntax.inside)}]*`,
    "uy",
  );
  return syntax;
}

/** What closes r##"text"## or [==[text]==] and where the text begins; null if nothing opens here. */
function fenceEnding([, fence, quote, close]) {
  return (text, place) => {
    let inner = place;
    while (text[inner] === fence) inner += 1;
    const fences = fence.repeat(inner - place);
    return text[inner] === quote
      ? { inner: inner + 1, close: close + fences + (close === quote ? "" : close) }
      : null;
  };
}

/** The same for R"tag(text)tag". */
function tagEnding(text, place) {
  const tag = text.slice(place, place + 17).indexOf("(");
  return tag < 0 ? null : { inner: place + tag + 1, close: ")" + text.slice(place, place + tag) + '"' };
}

const DIGITS = /\d(?:[eE][+-]\d|[\w.])*/y;

/** Where a comment or string ends; one that is not closed ends with its line. */
function closed(text, opening, at) {
  let depth = 1;
  let place = at + opening.open.length;
  const newline = text.indexOf("\n", place);
  const end = newline < 0 ? text.length : newline;
  if (opening.close === "\n") return end;
  const limit = opening.spans ? text.length : end;
  if (opening.ending) {
    const ending = opening.ending(text, place);
    const close = ending ? text.indexOf(ending.close, ending.inner) : -1;
    return close < 0 ? at : close + ending.close.length;
  }
  if (opening.isChar) {
    const long = opening.escape && text.startsWith(opening.escape, place) ? 12 : 2;
    const close = text.indexOf(opening.close, place + (long > 2 ? 2 : 1));
    return close >= 0 && close <= Math.min(limit, place + long) ? close + 1 : at;
  }
  if (!opening.escape && !opening.nests && !opening.doubles) {
    const close = text.indexOf(opening.close, place);
    return close >= 0 && close + opening.close.length <= limit ? close + opening.close.length : end;
  }
  while (place < limit) {
    if (opening.escape && text.startsWith(opening.escape, place)) place += opening.escape.length + 1;
    else if (text.startsWith(opening.close, place)) {
      place += opening.close.length;
      if (opening.doubles && text.startsWith(opening.close, place)) place += opening.close.length;
      else if ((depth -= 1) === 0) return place;
    } else if (opening.nests && text.startsWith(opening.open, place)) {
      place += opening.open.length;
      depth += 1;
    } else place += 1;
  }
  return end;
}

/** The tokens that get a colour: start, end and kind of each, one after another. */
function tokensOf(text, language) {
  const syntax = syntaxOf(language);
  const tokens = [];
  if (!syntax || text.length > 5e6) return tokens;
  let isFirst = true;
  let at = 0;
  while (at < text.length) {
    const char = text[at];
    if (char === "\n" || char === " " || char === "\t" || char === "\r") {
      isFirst = isFirst || char === "\n";
      at += 1;
      continue;
    }
    if (syntax.columns && (at === 0 || text[at - 1] === "\n") && syntax.columns.comment.includes(char)) {
      const end = text.indexOf("\n", at);
      tokens.push(at, end < 0 ? text.length : end, COMMENT);
      at = tokens[tokens.length - 2];
      continue;
    }
    const opening = (syntax.openings.get(char) || []).find(
      (o) => text.startsWith(o.open, at) && (isFirst || !o.isFirst),
    );
    isFirst = false;
    let end = opening ? closed(text, opening, at) : at;
    if (end > at) {
      tokens.push(at, end, opening.type);
      at = end;
      continue;
    }
    syntax.name.lastIndex = DIGITS.lastIndex = at;
    const word = syntax.name.exec(text);
    if (word) {
      if (syntax.keywords.has(syntax.ignoresCase ? word[0].toLowerCase() : word[0]))
        tokens.push(at, at + word[0].length, KEYWORD);
      at += word[0].length;
      continue;
    }
    end = DIGITS.test(text) ? DIGITS.lastIndex : at + 1;
    if (end > at + 1 || (char >= "0" && char <= "9")) tokens.push(at, end, NUMBER);
    at = end;
  }
  return tokens;
}
