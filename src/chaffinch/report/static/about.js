// The pages of how the report was made, what was not compared, and which files were skipped.

/** @import { Child, Listed, Passage } from "./types" */
import { index } from "./data.js";
import { make } from "./elements.js";
import { counted, visible } from "./format.js";
import { bdi, card, chips, definitions, glossary, intro, listing, main } from "./parts.js";

export function method() {
  const receipt = card("Receipt", "How this report was made, so that you can repeat it.", tree(index.receipt));
  main.append(make("h1", {}, "Method"), glossary(), receipt);
}

/** Show any value of the receipt. @param {unknown} value @returns {Node | string} */
function tree(value) {
  if (value === null || value === undefined) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "object") return visible(String(value));
  if (Array.isArray(value)) {
    if (!value.length) return "none";
    if (value.every((inner) => typeof inner !== "object" || inner === null)) return value.map(tree).join(", ");
    return make("ul", {}, ...value.map((inner) => make("li", {}, tree(inner))));
  }
  return definitions(
    "receipt",
    Object.entries(value).map(([key, inner]) => [visible(key).replace(/_/g, " "), tree(inner)]),
  );
}

export function skipped() {
  const none = () => make("p", {}, "None.");
  const hint =
    "Passages that at least half of the submissions share but that you did not name as base code. They count little.";
  const passages = index.common.map(commonPassage);
  main.append(
    intro("Skipped"),
    ...(index.ignored ? [notCompared()] : []),
    ...(index.commonFiles.length ? [commonFiles()] : []),
    card("Common code", hint, passages.length ? passages : none()),
    card(
      "Skipped files",
      "Files that could not be compared.",
      index.skipped.length ? listing(["File", "Reason"], index.skipped.map(listedRow)) : none(),
    ),
    index.notes.length
      ? card("Notes", "Files that were compared.", listing(["File", "Note"], index.notes.map(listedRow)))
      : "",
  );
}

function notCompared() {
  const { base, base_symbols, max_owners, symbols_with_more_owners } = index.receipt;
  /** @param {Record<string, number>} [counts] */
  const sum = (counts) => Object.values(counts ?? {}).reduce((total, n) => total + n, 0);
  const given = sum(base_symbols);
  const shared = sum(symbols_with_more_owners);
  const amounts = [
    given ? `${counted(given, "symbol")} of base code` : "",
    shared ? `${counted(shared, "symbol")} that more than ${max_owners} submissions share` : "",
  ];
  const files = Object.keys(base ?? {}).map((name) => bdi(name));
  return card(
    "Not compared",
    `In ${counted(index.ignored, "submission")}. Shown in grey where a pair is side by side.`,
    make("p", {}, amounts.filter(Boolean).join(", ") + "."),
    files.length ? chips(files) : null,
  );
}

/** @param {Listed} listed @returns {Child[]} */
function listedRow({ names, count, detail }) {
  return [listedNames(names, count), visible(detail)];
}

/** @param {string[]} names @param {number} count */
function listedNames(names, count) {
  if (count === 1) return bdi(names[0]);
  const rest = count - names.length;
  return make(
    "details",
    {},
    make("summary", {}, bdi(names[0]), ` and ${counted(count - 1, "other")}`),
    make("ul", {}, ...names.map((name) => make("li", {}, bdi(name)))),
    rest ? make("p", { class: "hint" }, `and ${counted(rest, "other")}; --json lists them`) : null,
  );
}

function commonFiles() {
  const total = index.submissions.filter(({ old }) => !old).length;
  const rows = index.commonFiles.map(({ name, owners, only }) => [
    bdi(name),
    `${owners} of ${total}`,
    make("span", {}, ...only.flatMap((n, i) => [i ? ", " : "", bdi(index.submissions[n].name)])),
  ]);
  return card(
    "Files that most have",
    "Taken as base code, so they are not compared. Those named on the right have nothing else: either this is what " +
      "was handed out, or they copied it from each other.",
    listing(["File", "Submissions", "Nothing else"], rows),
  );
}

/** @param {Passage} passage */
function commonPassage({ file, lines, owners, symbols, text }) {
  const [first, last] = lines ?? [0, 0];
  const where = !first ? "" : first === last ? `, line ${first}` : `, lines ${first}–${last}`;
  const many = make("b", {}, `in ${counted(owners, "submission")}`);
  const missing = make("p", { class: "hint" }, "This report does not contain the text.");
  return make(
    "details",
    { class: "passage" },
    make("summary", {}, many, ` ${counted(symbols, "symbol")} · `, bdi(file), where),
    text ? make("pre", {}, visible(text)) : missing,
  );
}
