// The data of the report: the index, and chunks that are loaded when they are needed.

/** @import { DocumentText, Index, MatchRow } from "./types" */
import { byId, make } from "./elements.js";

/** @type {Index} */
export const index = JSON.parse(byId("index").textContent ?? "");

/** @type {Map<string, Promise<unknown>>} */
const chunks = new Map();
/** @type {Map<string, (value: unknown) => void>} */
const arrivals = new Map();

window.chaffinchChunk = (key, value) => arrivals.get(key)?.(value);

/**
 * Load the texts of a submission.
 * @param {number} submission
 */
export const loadTexts = (submission) => /** @type {Promise<DocumentText[]>} */ (load("s" + submission));

/**
 * Load the matches of a pair.
 * @param {number} pair
 */
export const loadMatches = (pair) => /** @type {Promise<MatchRow[]>} */ (load("p" + pair));

/** @param {string} key */
function load(key) {
  const chunk = chunks.get(key) ?? (index.inside ? unpack(key) : fetchScript(key));
  chunks.set(key, chunk);
  return chunk;
}

/**
 * @param {string} key
 * @returns {Promise<unknown>}
 */
async function unpack(key) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error(
      "This browser cannot unpack a report in one file. Use a newer browser, or save the report as a folder.",
    );
  }
  const element = document.getElementById(key);
  if (!element) throw new Error("This part of the report is missing. Write the report again.");
  const bytes = Uint8Array.from(atob(element.textContent ?? ""), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/**
 * @param {string} key
 * @returns {Promise<unknown>}
 */
function fetchScript(key) {
  return new Promise((resolve, reject) => {
    arrivals.set(key, resolve);
    const onerror = () =>
      reject(new Error(`data/${key}.js is missing. Keep the folder "data" next to this page.`));
    document.head.append(make("script", { src: `data/${key}.js`, onerror }));
  });
}
