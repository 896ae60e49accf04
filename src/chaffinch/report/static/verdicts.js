// What the reviewer thinks of each pair: kept by the browser under the hash of the contents, and in files.

const VERDICTS = ["", "copied", "common source", "no"];
const undecided = { verdict: "", note: "" };

function isVerdict(found) {
  return Boolean(found) && VERDICTS.includes(found.verdict) && typeof found.note === "string";
}

/** What the browser keeps, unless the report was made with another verdict than was known when it was chosen. */
function verdictOf(pair) {
  const given = index.verdicts[pair.key];
  try {
    const found = JSON.parse(kept.get("verdict:" + pair.key) || "null");
    if (isVerdict(found) && (!given || found.over === JSON.stringify(given))) return found;
  } catch {
    // Not ours: as if there were none.
  }
  return given || undecided;
}

function setVerdict(pair, change) {
  const { verdict, note } = { ...verdictOf(pair), ...change };
  const over = JSON.stringify(index.verdicts[pair.key]);
  const isKept = kept.set("verdict:" + pair.key, JSON.stringify({ verdict, note, over }));
  if (!isKept) {
    index.verdicts[pair.key] = { verdict, note };
    say("This browser keeps nothing for pages like this one: export the verdicts before you close it.");
  }
}

/** Where a verdict is chosen and a note written. */
function verdictFields(pair, changed = () => {}) {
  const now = verdictOf(pair);
  const choice = make(
    "select",
    {
      "aria-label": "Verdict",
      class: "verdict",
      "data-verdict": now.verdict,
      onchange: () => {
        setVerdict(pair, { verdict: choice.value });
        choice.dataset.verdict = choice.value;
        changed();
      },
    },
    VERDICTS.map((verdict) =>
      make("option", { value: verdict, selected: verdict === now.verdict }, verdict || "not decided"),
    ),
  );
  const note = make("input", {
    "aria-label": "Note",
    class: "note",
    placeholder: "Note",
    value: now.note,
    oninput: () => {
      setVerdict(pair, { note: note.value });
      printed.textContent = note.value;
    },
  });
  const printed = make("span", { class: "printed" }, now.note);
  return [choice, note, printed];
}

function exportVerdicts() {
  const verdicts = { ...index.verdicts }; // those of pairs that are no longer listed too
  for (const pair of index.pairs) {
    const { verdict, note } = verdictOf(pair);
    delete verdicts[pair.key];
    if (verdict || note) verdicts[pair.key] = { verdict, note };
  }
  const text = JSON.stringify({ kind: "chaffinch verdicts", version: 1, verdicts }, null, 1) + "\n";
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  make("a", { href: address, download: "verdicts.json" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

async function importVerdicts(file) {
  let found;
  try {
    found = JSON.parse(await file.text()).verdicts;
  } catch {
    found = null;
  }
  if (!found || typeof found !== "object") {
    say("This file has no verdicts in it.");
    return;
  }
  let known = 0;
  for (const pair of index.pairs) {
    if (Object.hasOwn(found, pair.key) && isVerdict(found[pair.key])) {
      setVerdict(pair, found[pair.key]);
      known += 1;
    }
  }
  say(
    counted(known, "verdict") +
      " read; " +
      grouped(Object.keys(found).length - known) +
      " for pairs that are not in this report.",
  );
}
