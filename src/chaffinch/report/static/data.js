// The data of the report: the index, and chunks that are loaded when they are needed.

/** @import { DocumentText, Index, MatchRow } from "./types" */
import { byId, make } from "./elements.js";

/** @type {Index} */
export const index = JSON.parse(byId("index").textContent ?? "");

/** @type {Map<string, Promise<unknown>>} */
const chunks = new Map();
/** Scripts of the folder "data" that are loaded or loading. @type {Map<string, Promise<unknown>>} */
const scripts = new Map();
/** The chunks that those scripts brought. @type {Map<string, unknown>} */
const arrived = new Map();

window.chaffinchChunk = (key, value) => arrived.set(key, value);

/** Load the texts of a submission. @param {number} submission */
export const loadTexts = (submission) => /** @type {Promise<DocumentText[]>} */ (load("s" + submission));

/** Load the matches of a pair. @param {number} pair */
export const loadMatches = (pair) => /** @type {Promise<MatchRow[]>} */ (load("p" + pair));

/** @param {string} key */
function load(key) {
  const chunk = chunks.get(key) ?? (index.files ? fetchChunk(key, index.files) : unpack(key));
  chunks.set(key, chunk);
  return chunk;
}

/** @param {string} key @returns {Promise<unknown>} */
async function unpack(key) {
  const tooOld =
    "This browser cannot unpack a report in one file. Use a newer browser, or save the report as a folder.";
  if (typeof DecompressionStream === "undefined") throw new Error(tooOld);
  const element = document.getElementById(key);
  if (!element) throw new Error("This part of the report is missing. Write the report again.");
  const bytes = Uint8Array.from(atob(element.textContent ?? ""), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** Load the script with a chunk; it is named after its first one. @param {string} key @param {string[]} files */
async function fetchChunk(key, files) {
  /** @param {string} name */
  const number = (name) => Number(name.slice(1));
  const name = files.findLast((file) => file[0] === key[0] && number(file) <= number(key)) ?? key;
  const script = scripts.get(name) ?? loadScript(`data/${name}.js`);
  scripts.set(name, script);
  await script;
  return arrived.get(key);
}

/** @param {string} src */
function loadScript(src) {
  return new Promise((resolve, reject) => {
    const onerror = () => reject(new Error(`${src} is missing. Keep the folder "data" next to this page.`));
    document.head.append(make("script", { src, onload: resolve, onerror }));
  });
}
