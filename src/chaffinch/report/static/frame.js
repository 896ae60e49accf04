// The frame of every page: where pages are shown, and messages.

import { byId } from "./elements.js";

/** Where the pages are shown. */
export const main = byId("main");

let hideLater = 0;

/**
 * Show a message at the bottom of the window for a few seconds.
 * @param {string} text
 */
export function showMessage(text) {
  const message = byId("message");
  message.textContent = text;
  message.classList.add("shown");
  clearTimeout(hideLater);
  hideLater = window.setTimeout(() => message.classList.remove("shown"), 5000);
}
