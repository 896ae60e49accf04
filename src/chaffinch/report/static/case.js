// Write the verdict and the notes into the page itself, so that every way to save the page keeps them.

import { byId, download } from "./elements.js";

const note = /** @type {HTMLTextAreaElement} */ (byId("note"));
const choices = document.querySelectorAll("[name=verdict]");
const saving = byId("saving");

note.addEventListener("input", () => (note.defaultValue = note.value));
for (const choice of choices) {
  choice.addEventListener("change", () => {
    for (const other of choices) other.toggleAttribute("checked", other === choice);
  });
}
saving.hidden = false;
byId("save").addEventListener("click", () => {
  saving.hidden = true; // as in the file
  const page = "<!doctype html>\n" + document.documentElement.outerHTML;
  saving.hidden = false;
  const title = document.title.replace(/[^\p{L}\p{N}]+/gu, " ").trim();
  download(title.slice(0, 80) + ".html", page, "text/html");
});
