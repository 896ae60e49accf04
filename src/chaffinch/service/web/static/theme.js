// Dark and light: as the system has it, or as chosen here or in a report.

const KEY = "chaffinch:theme";
const root = document.documentElement;
const darkMode = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : darkMode.matches;
}

function show() {
  const button = document.getElementById("theme");
  if (!button) return;
  button.hidden = false;
  button.textContent = isDark() ? "☀" : "☾";
}

try {
  const chosen = localStorage.getItem(KEY);
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
} catch {
  // Nothing can be stored: the system decides.
}
document.getElementById("theme")?.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem(KEY, root.dataset.theme);
  } catch {
    // It holds until the next page.
  }
  show();
});
darkMode.addEventListener("change", show);
show();
