/**
 * Shows a `<dialog>` over everything else: Escape calls `onCancel`, Tab stays inside, and the focus returns when the returned
 * function closes it. Close it while it is in the page: only then does the browser give the focus back.
 */
export function openModal(dialog: HTMLDialogElement, onCancel: () => void): () => void {
  if (!("showModal" in dialog)) return openOwnModal(dialog, onCancel);
  const onEvent = (event: Event) => {
    event.preventDefault();
    onCancel();
  };
  dialog.addEventListener("cancel", onEvent);
  dialog.showModal();
  return () => {
    dialog.removeEventListener("cancel", onEvent);
    dialog.close();
  };
}

/** Safari before 15.4 has no modal dialogs. What replaces them is loaded there only. */
function openOwnModal(dialog: HTMLElement, onCancel: () => void): () => void {
  const before = document.activeElement;
  dialog.setAttribute("open", "");
  let close: (() => void) | undefined;
  let isClosed = false;
  import("./own-modal.ts")
    .then(({ openAsModal }) => {
      if (!isClosed) close = openAsModal(dialog, before, onCancel);
    })
    .catch(() => {});
  return () => {
    isClosed = true;
    close?.();
  };
}
