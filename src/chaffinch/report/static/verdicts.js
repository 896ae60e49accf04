// A reviewer's verdict on each pair: stored by the browser under a hash of the contents, and in files.

/** @import { Pair, Verdict } from "./types" */
import { index } from "./data.js";
import { download, make } from "./elements.js";
import { counted, grouped } from "./format.js";
import { showMessage } from "./parts.js";
import { store, stored } from "./storage.js";

const VERDICTS = ["", "copied", "common source", "no"];

/** @param {unknown} value @returns {value is Verdict} */
function isVerdict(value) {
  if (typeof value !== "object" || value === null || !("verdict" in value) || !("note" in value)) return false;
  return typeof value.verdict === "string" && VERDICTS.includes(value.verdict) && typeof value.note === "string";
}

/** Return the verdict the browser stores, unless the report now brings another one than when it was chosen. */
/** @param {Pair} pair @returns {Verdict} */
export function verdictOf(pair) {
  const given = index.verdicts[pair.key];
  try {
    const own = JSON.parse(stored("verdict:" + pair.key) ?? "null");
    if (isVerdict(own) && (!given || ("over" in own && own.over === JSON.stringify(given)))) return own;
  } catch {
    // Not a verdict: ignore it.
  }
  return given ?? { verdict: "", note: "" };
}

/** @param {Pair} pair @param {Partial<Verdict>} change */
function setVerdict(pair, change) {
  const { verdict, note } = { ...verdictOf(pair), ...change };
  const over = JSON.stringify(index.verdicts[pair.key]);
  if (!store("verdict:" + pair.key, JSON.stringify({ verdict, note, over }))) {
    index.verdicts[pair.key] = { verdict, note };
    showMessage("This browser stores nothing for this page. Export the verdicts before you close it.");
  }
}

/** @param {string | null} chosen */
export const verdictOptions = (chosen) =>
  VERDICTS.map((value) => make("option", { value, selected: value === chosen }, value || "not decided"));

/** Build the fields for a verdict and a note. @param {Pair} pair */
export function verdictFields(pair) {
  const current = verdictOf(pair);
  const choice = make("select", { "aria-label": "Verdict", class: "verdict" }, verdictOptions(current.verdict));
  choice.dataset.verdict = current.verdict;
  choice.addEventListener("change", () => {
    setVerdict(pair, { verdict: choice.value });
    choice.dataset.verdict = choice.value;
  });
  const printed = make("span", { class: "printed-note" }, current.note);
  const note = make("input", { "aria-label": "Note", class: "note", placeholder: "Note", value: current.note });
  note.addEventListener("input", () => {
    setVerdict(pair, { note: note.value });
    printed.textContent = note.value;
  });
  return [choice, note, printed];
}

export function exportVerdicts() {
  const verdicts = { ...index.verdicts }; // includes pairs that are no longer listed
  for (const pair of index.pairs) {
    const { verdict, note } = verdictOf(pair);
    delete verdicts[pair.key];
    if (verdict || note) verdicts[pair.key] = { verdict, note };
  }
  const text = JSON.stringify({ kind: "chaffinch verdicts", version: 1, verdicts }, null, 1) + "\n";
  download("verdicts.json", text, "application/json");
}

/** @param {File} file */
export async function importVerdicts(file) {
  const reading = file.text().then((text) => JSON.parse(text).verdicts);
  /** @type {unknown} */
  const verdicts = await reading.catch(() => null); // not JSON
  if (!verdicts || typeof verdicts !== "object") return showMessage("This file contains no verdicts.");
  const imported = new Map(Object.entries(verdicts));
  let known = 0;
  for (const pair of index.pairs) {
    const verdict = imported.get(pair.key);
    if (isVerdict(verdict)) {
      setVerdict(pair, verdict);
      known += 1;
    }
  }
  const others = grouped(imported.size - known);
  showMessage(`${counted(known, "verdict")} imported; ${others} for pairs that are not in this report.`);
}
