// What the reviewer thinks of each pair: kept by the browser under the hash of the contents, and in files.

const VERDICTS = ["", "copied", "common source", "no"];
const undecided = { verdict: "", note: "" };

function isVerdict(found) {
  return Boolean(found) && VERDICTS.includes(found.verdict) && typeof found.note === "string";
}

function verdictOf(pair) {
  try {
    const found = JSON.parse(kept.get("verdict:" + pair.key) || "null");
    if (isVerdict(found)) return found;
  } catch {
    // Not ours: as if there were none.
  }
  return index.verdicts[pair.key] || undecided;
}

function setVerdict(pair, change) {
  const { verdict, note } = { ...verdictOf(pair), ...change };
  const isKept = kept.set("verdict:" + pair.key, JSON.stringify({ verdict, note }));
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
    oninput: () => setVerdict(pair, { note: note.value }),
  });
  return [choice, note];
}

function exportVerdicts() {
  const verdicts = {};
  for (const pair of index.pairs) {
    const { verdict, note } = verdictOf(pair);
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
