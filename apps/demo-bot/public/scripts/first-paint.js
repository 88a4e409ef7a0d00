// Runs before the first paint, so that a page in chosen colours never flashes in the system's.
try {
  const chosen = localStorage.getItem("colours");
  if (chosen !== null) document.documentElement.dataset.colours = chosen;
} catch {
  // Without storage the system's colours hold.
}
