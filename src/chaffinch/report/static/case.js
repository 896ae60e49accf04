// Puts what was chosen and written into the page itself, so that any way of saving it keeps that.
"use strict";
const note = document.getElementById("note");
note.addEventListener("input", () => (note.defaultValue = note.value));
for (const choice of document.querySelectorAll("[name=verdict]")) {
  choice.addEventListener("change", () => {
    for (const other of document.querySelectorAll("[name=verdict]"))
      other.toggleAttribute("checked", other === choice);
  });
}
document.getElementById("saving").hidden = false;
document.getElementById("save").addEventListener("click", () => {
  document.getElementById("saving").hidden = true; // as in the file before it ran
  const page = "<!doctype html>\n" + document.documentElement.outerHTML;
  document.getElementById("saving").hidden = false;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  link.download = document.title.replace(/[^\p{L}\p{N}]+/gu, " ").trim().slice(0, 80) + ".html";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
});
