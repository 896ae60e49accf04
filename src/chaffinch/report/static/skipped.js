// The page of what was not compared, what counts little, and which files were skipped.

/** @import { Passage } from "./types" */
import { index } from "./data.js";
import { make } from "./elements.js";
import { counted, visible } from "./format.js";
import { main } from "./frame.js";
import { card, intro, listing } from "./parts.js";

export function skipped() {
  main.append(intro("Skipped"));
  if (index.ignored) main.append(notCompared());
  const hint =
    "Passages that at least half of the submissions share but that you did not name as base code. They count little.";
  const passages = index.common.map(commonPassage);
  main.append(card("Common code", hint, passages.length ? passages : make("p", {}, "None.")));
  const rows = index.skipped.map(({ name, detail }) => [make("bdi", {}, visible(name)), visible(detail)]);
  main.append(
    card(
      "Skipped files",
      "Files that could not be compared.",
      rows.length ? listing(["File", "Reason"], rows) : make("p", {}, "None."),
    ),
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
  const files = Object.keys(base ?? {}).map((name) => make("li", {}, make("bdi", {}, visible(name))));
  return card(
    "Not compared",
    `In ${counted(index.ignored, "submission")}. Shown in grey where a pair is side by side.`,
    make("p", {}, amounts.filter(Boolean).join(", ") + "."),
    files.length ? make("ul", { class: "chips" }, files) : null,
  );
}

/** @param {Passage} passage */
function commonPassage({ file, lines, owners, symbols, text }) {
  const [first, last] = lines ?? [0, 0];
  const where = !first ? "" : first === last ? `, line ${first}` : `, lines ${first}–${last}`;
  return make(
    "details",
    { class: "passage" },
    make(
      "summary",
      {},
      make("b", {}, `in ${counted(owners, "submission")}`),
      ` ${counted(symbols, "symbol")} · `,
      make("bdi", {}, visible(file)),
      where,
    ),
    text ? make("pre", {}, visible(text)) : make("p", { class: "hint" }, "This report does not contain the text."),
  );
}
