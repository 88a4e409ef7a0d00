/** What a modal dialog does, for browsers that have none. `before` had the focus. Returns what ends it. */
export function openAsModal(dialog: HTMLElement, before: Element | null, onCancel: () => void): () => void {
  dialog.dataset.modal = "own";
  dialog.setAttribute("role", "dialog");
  dialog.setAttribute("aria-modal", "true");
  const covered = [...(dialog.parentElement?.children ?? [])].filter((each) => each !== dialog) as HTMLElement[];
  const setTaps = (pointerEvents: "none" | "") => {
    for (const each of covered) each.style.pointerEvents = pointerEvents;
  };
  setTaps("none");
  let focused: HTMLElement | undefined;
  const onFocus = ({ target }: FocusEvent) => {
    if (target instanceof HTMLElement && dialog.contains(target)) focused = target;
    // A screen that changes below the dialog gives its heading the focus.
    else if (focused?.isConnected) focused.focus();
    else controlsOf(dialog)[0]?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Escape") onCancel();
    if (event.key !== "Tab") return;
    event.preventDefault();
    const controls = controlsOf(dialog);
    const at = controls.indexOf(document.activeElement as HTMLElement);
    // From the heading, which is none of them, Shift and Tab lead to the last one.
    const next = event.shiftKey ? Math.max(at, 0) - 1 + controls.length : at + 1;
    controls[next % controls.length]?.focus();
  };
  document.addEventListener("focusin", onFocus);
  dialog.addEventListener("keydown", onKey);
  if (dialog.contains(document.activeElement)) focused = document.activeElement as HTMLElement;
  else controlsOf(dialog)[0]?.focus();
  return () => {
    setTaps("");
    document.removeEventListener("focusin", onFocus);
    dialog.removeEventListener("keydown", onKey);
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  };
}

function controlsOf(dialog: HTMLElement): HTMLElement[] {
  return [...dialog.querySelectorAll<HTMLElement>("button, a[href], input, select")];
}
