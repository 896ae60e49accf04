// Build elements. Text is always added as text, never as HTML.

/** @import { Children, MakeHtml, MakeSvg, Properties } from "./types" */

/** Build an HTML element. @type {MakeHtml} */
export const make = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);

/** Build an SVG element. @type {MakeSvg} */
export const makeSvg = (tag, properties, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);

/** @template {Element} E @param {E} element @param {Properties | undefined} properties @param {Children} children */
function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (typeof value === "function") element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Return an element that the page always has. @param {string} id */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no element "${id}".`);
  return element;
}

/** Return the nearest element around the target of an event that fits a selector. */
/** @param {Event} event @param {string} selector @returns {HTMLElement | null} */
export const targetIn = (event, selector) =>
  event.target instanceof Element ? event.target.closest(selector) : null;

/** Let the browser save a text as a file. @param {string} name @param {string} text @param {string} type */
export function download(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
