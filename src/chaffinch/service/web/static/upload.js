// The form for a class: files and folders can be dropped on it, and it shows how much has been sent.

const form = /** @type {HTMLFormElement} */ (document.getElementById("upload"));
const drop = /** @type {HTMLElement} */ (document.getElementById("drop"));
const chosen = /** @type {HTMLElement} */ (document.getElementById("chosen"));
const sent = /** @type {HTMLProgressElement} */ (document.getElementById("sent"));
/** Files that were dropped, with their paths. @type {{ path: string, file: File }[]} */
let dropped = [];

/** @param {FileSystemEntry} entry @returns {Promise<{ path: string, file: File }[]>} */
async function filesIn(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) =>
      /** @type {FileSystemFileEntry} */ (entry).file(resolve, reject),
    );
    return [{ path: entry.fullPath.replace(/^\//, ""), file }];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  const found = [];
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return found; // a browser returns at most a hundred at a time
    for (const inner of some) found.push(...(await filesIn(inner)));
  }
}

/** All files that will be sent. @returns {{ path: string, file: File }[]} */
function selected() {
  const inputs = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input[name=submission]")]);
  const files = inputs.flatMap((input) => [...(input.files ?? [])]);
  return [...dropped, ...files.map((file) => ({ path: file.webkitRelativePath || file.name, file }))];
}

function showChosen() {
  const files = selected();
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
  const noun = files.length === 1 ? "file" : "files";
  chosen.textContent = `${files.length.toLocaleString("en")} ${noun}, ${size}`;
}

/** Send the form, and show how far it is. @param {FormData} data */
function send(data) {
  const request = new XMLHttpRequest();
  sent.hidden = false;
  request.upload.addEventListener("progress", (event) => {
    if (event.lengthComputable) sent.value = event.loaded / event.total;
  });
  request.addEventListener("load", () => {
    sent.hidden = true;
    const answer = JSON.parse(request.responseText);
    if (request.status === 202) location.assign(`/runs/${answer.id}`);
    else chosen.textContent = answer.detail;
  });
  request.addEventListener("error", () => {
    sent.hidden = true;
    chosen.textContent = "The upload was interrupted. Try again.";
  });
  request.open("POST", "/runs");
  request.setRequestHeader("Accept", "application/json");
  request.send(data);
}

for (const name of ["dragover", "dragleave", "drop"]) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", name === "dragover");
  });
}
drop.addEventListener("drop", async (event) => {
  const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
  for (const entry of entries) if (entry) dropped.push(...(await filesIn(entry)));
  showChosen();
});
form.addEventListener("change", showChosen);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const files = selected();
  if (!files.length) {
    chosen.textContent = "Choose what was handed in first.";
    return;
  }
  const data = new FormData(form);
  data.delete("submission");
  for (const { path, file } of files) data.append("submission", file, path);
  for (const role of ["base", "earlier"]) {
    const kept = data.getAll(role).filter((value) => value instanceof File && value.name);
    data.delete(role);
    for (const value of kept) data.append(role, value);
  }
  send(data);
});
