// Runs before the first paint, so that the page never flashes in the system's colours before the chosen ones.
const root = document.documentElement;
try {
  const chosen = localStorage.getItem("colours");
  if (chosen !== null) root.dataset.colours = chosen;
} catch {
  // Without storage the system's colours apply.
}
root.dataset.scheme = root.dataset.colours ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
