// What the browser stores for this report, if it stores anything.

/** @param {string} key @returns {string | null} */
export function stored(key) {
  try {
    return localStorage.getItem("chaffinch:" + key);
  } catch {
    return null;
  }
}

/** Store a text and tell whether that worked. @param {string} key @param {string} value */
export function store(key, value) {
  try {
    localStorage.setItem("chaffinch:" + key, value);
    return true;
  } catch {
    return false;
  }
}
