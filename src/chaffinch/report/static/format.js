// Numbers and names as text.

/** @param {number | null} share */
export const percent = (share) => (share === null ? "–" : Math.round(share * 100) + "%");

/** @param {number | null} value */
export const decimal = (value) => (value === null ? "–" : value.toFixed(1));

/** @param {number | null} value */
export const grouped = (value) => (value === null ? "–" : String(value).replace(/\B(?=(\d{3})+$)/g, ","));

/** @param {number} n @param {string} one @param {string} [many] */
export const counted = (n, one, many = one + "s") => `${grouped(n)} ${n === 1 ? one : many}`;

/** @param {number} bytes */
export const fileSize = (bytes) =>
  bytes < 10000 ? grouped(bytes) + " B" : grouped(Math.round(bytes / 1000)) + " kB";

/** Show characters that would hide or reorder their neighbours; each one stays one character. @param {string} text */
export const visible = (text) =>
  text
    .replace(/\r/g, "")
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\u200b\u202a-\u202e\u2066-\u2069]/g, "¤");

/** Shorten a name in its middle, because names often differ at the end. @param {string} text @param {number} size */
export function trimmed(text, size) {
  const characters = Array.from(visible(text));
  if (characters.length <= size) return characters.join("");
  const half = Math.floor(size / 2);
  return [...characters.slice(0, half), "…", ...characters.slice(half + 1 - size)].join("");
}
