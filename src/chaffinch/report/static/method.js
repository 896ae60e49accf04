// The page of how the report was made.

import { index } from "./data.js";
import { make } from "./elements.js";
import { visible } from "./format.js";
import { main } from "./frame.js";
import { card, glossary } from "./parts.js";

export function method() {
  main.append(
    make("h1", {}, "Method"),
    glossary(),
    card("Receipt", "How this report was made, so that you can repeat it.", tree(index.receipt)),
  );
}

/**
 * Show any value of the receipt.
 * @param {unknown} value
 * @returns {Node | string}
 */
function tree(value) {
  if (value === null || value === undefined) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "object") return visible(String(value));
  if (Array.isArray(value)) {
    if (!value.length) return "none";
    if (value.every((inner) => typeof inner !== "object" || inner === null)) return value.map(tree).join(", ");
    return make(
      "ul",
      {},
      value.map((inner) => make("li", {}, tree(inner))),
    );
  }
  return make(
    "dl",
    { class: "receipt" },
    Object.entries(value).map(([key, inner]) =>
      make("div", {}, make("dt", {}, visible(key).replace(/_/g, " ")), make("dd", {}, tree(inner))),
    ),
  );
}
