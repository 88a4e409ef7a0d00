// Runs before the first paint, so that the page never flashes in the system's colours before the chosen ones.
try {
  const chosen = localStorage.getItem("colours");
  if (chosen !== null) document.documentElement.dataset.colours = chosen;
} catch {
  // Without storage the system's colours apply.
}
