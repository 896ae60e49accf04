// What other scripts add to a page after it is built. Only reports that need such a script contain it.

/** @typedef {(n: number) => void} Addition */

/** @type {Map<string, Addition>} */
const additions = new Map();

/**
 * Let a function add to a page; it is called with the number in the page's address.
 * @param {string} page
 * @param {Addition} add
 */
export const addTo = (page, add) => additions.set(page, add);

/** @param {string} page */
export const additionTo = (page) => additions.get(page);
