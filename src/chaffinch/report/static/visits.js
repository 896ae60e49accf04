// Each page in the history keeps its scroll position and its number of rows.

/** How many rows a table shows at first. */
export const FIRST_ROWS = 300;

/** @type {Map<number, { scroll: number, rows: number }>} */
const visits = new Map();
let visit = { scroll: 0, rows: FIRST_ROWS };

/** Return the page that is shown now. */
export const currentVisit = () => visit;

/** Find the page that the history went to, or begin a new one. */
export function openVisit() {
  const known = visits.get(history.state?.visit);
  visit = known ?? { scroll: 0, rows: FIRST_ROWS };
  if (!known) {
    const id = visits.size + 1;
    visits.set(id, visit);
    history.replaceState({ visit: id }, "");
  }
  return visit;
}

history.scrollRestoration = "manual";
window.addEventListener("scroll", () => (visit.scroll = window.scrollY), { passive: true });
