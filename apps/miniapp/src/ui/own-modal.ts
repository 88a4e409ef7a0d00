/** What a modal dialog does, for browsers that have none. Returns what ends it. */
export function openAsModal(dialog: HTMLElement, onCancel: () => void): () => void {
  const before = document.activeElement;
  dialog.dataset.modal = "own";
  dialog.setAttribute("role", "dialog");
  dialog.setAttribute("aria-modal", "true");
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Escape") onCancel();
    if (event.key !== "Tab") return;
    event.preventDefault();
    const controls = [...dialog.querySelectorAll<HTMLElement>("button, a[href], input, select")];
    const at = controls.indexOf(document.activeElement as HTMLElement);
    controls[(at + (event.shiftKey ? -1 : 1) + controls.length) % controls.length]?.focus();
  };
  dialog.addEventListener("keydown", onKey);
  dialog.querySelector("button")?.focus();
  return () => {
    dialog.removeEventListener("keydown", onKey);
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  };
}
