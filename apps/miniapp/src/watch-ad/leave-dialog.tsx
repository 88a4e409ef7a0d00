import { type KeyboardEvent, useLayoutEffect, useRef } from "react";
import { Message, useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";

/** Shown over the held video. The safe choice has the focus, and Escape selects it. */
export function LeaveDialog({
  seconds,
  onStay,
  onLeave,
}: {
  seconds: number;
  onStay: () => void;
  onLeave: () => void;
}) {
  const { text } = useTranslator();
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => openModal(dialog.current), []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby="leave-title"
      aria-describedby="leave-text"
      onCancel={(event) => {
        event.preventDefault();
        onStay();
      }}
      onKeyDown={(event) => keepKeys(event, onStay)}
    >
      <h2 id="leave-title">{text("leave.title")}</h2>
      <p id="leave-text" className="secondary">
        <Message id="leave.text" values={{ count: seconds }} />
      </p>
      <Button autoFocus onClick={onStay}>
        {text("leave.resume")}
      </Button>
      <Button look="danger" onClick={onLeave}>
        {text("leave.confirm")}
      </Button>
    </dialog>
  );
}

/** Returns what closes it: only a dialog that is closed while it is in the page gives the focus back. */
function openModal(dialog: HTMLDialogElement | null): (() => void) | undefined {
  if (dialog && "showModal" in dialog) {
    dialog.showModal();
    return () => dialog.close();
  }
  return openAsModal(dialog);
}

/** Safari before 15.4 has no modal dialogs. */
function openAsModal(dialog: HTMLElement | null): (() => void) | undefined {
  if (!dialog) return undefined;
  const before = document.activeElement;
  dialog.dataset.modal = "own";
  dialog.setAttribute("open", "");
  dialog.setAttribute("role", "dialog");
  dialog.setAttribute("aria-modal", "true");
  dialog.querySelector("button")?.focus();
  return () => {
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  };
}

/** What a modal dialog does with keys, where the browser has none: Escape cancels, and Tab stays inside. */
function keepKeys(event: KeyboardEvent<HTMLElement>, onStay: () => void): void {
  const { currentTarget: dialog, key } = event;
  if (dialog.dataset.modal !== "own") return;
  if (key === "Escape") onStay();
  if (key !== "Tab") return;
  event.preventDefault();
  // Of its two buttons, the other one.
  [...dialog.querySelectorAll("button")].find((button) => button !== document.activeElement)?.focus();
}
