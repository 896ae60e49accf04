// What everything else uses: the data, elements, what is kept, chunks that are loaded when needed.

const index = JSON.parse(document.getElementById("index").textContent);
const main = document.getElementById("main");

/** An element: properties that begin with "on" are listeners, others attributes; strings become text, never HTML. */
function make(tag, properties, ...children) {
  return fitted(document.createElement(tag), properties, children);
}

function makeSvg(tag, properties, ...children) {
  return fitted(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fitted(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const percent = (share) => (share === null ? "–" : Math.round(share * 100) + "%");
const decimal = (value) => (value === null ? "–" : value.toFixed(1));
const grouped = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");
const counted = (n, word) => grouped(n) + " " + word + (n === 1 ? "" : "s");
const sizes = (bytes) => (bytes < 10000 ? grouped(bytes) + " B" : grouped(Math.round(bytes / 1000)) + " kB");

/** Characters that would hide or turn around what is beside them, shown; each stays one character. */
const visible = (text) =>
  text
    .replace(/\r/g, "")
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\u200b\u202a-\u202e\u2066-\u2069]/g, "¤");

/** A submission's name as a link, and whether it is older; its letters cannot turn around those beside it. */
function studentLink(n) {
  const { name, old } = index.submissions[n];
  const link = make(
    "a",
    { href: "#/student/" + n, title: visible(name), class: "name" },
    make("bdi", {}, visible(name) || "(no name)"),
  );
  return old ? [link, make("small", {}, " older")] : [link];
}

/** What the browser keeps for this report, if it keeps anything. */
const kept = {
  get(key) {
    try {
      return localStorage.getItem("chaffinch:" + key);
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      localStorage.setItem("chaffinch:" + key, value);
      return true;
    } catch {
      return false;
    }
  },
};

let hush = 0;

/** A message at the foot of the window, for some seconds. */
function say(text) {
  const place = document.getElementById("message");
  place.textContent = text;
  place.classList.add("shown");
  clearTimeout(hush);
  hush = setTimeout(() => place.classList.remove("shown"), 5000);
}

const chunks = new Map();
const arrivals = new Map();

window.chaffinchChunk = (key, value) => arrivals.get(key)(value);

/** The texts of submission 3 (s3) or the matches of pair 3 (p3), out of this page or its folder. */
function load(key) {
  if (!chunks.has(key)) chunks.set(key, index.inside ? unpacked(key) : fetched(key));
  return chunks.get(key);
}

async function unpacked(key) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error(
      "This browser cannot unpack a report in one file. Take a newer one, or save the report as a folder.",
    );
  }
  const element = document.getElementById(key);
  if (!element) throw new Error("This part of the report is missing.");
  const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function fetched(key) {
  return new Promise((resolve, reject) => {
    arrivals.set(key, resolve);
    const missing = () =>
      reject(new Error("data/" + key + ".js is missing. It belongs beside this page, in its folder."));
    document.head.append(make("script", { src: "data/" + key + ".js", onerror: missing }));
  });
}
