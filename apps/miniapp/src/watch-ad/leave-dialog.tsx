import { useLayoutEffect, useRef } from "react";
import { Message, useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { openModal } from "../ui/modal.ts";

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
  useLayoutEffect(() => (dialog.current ? openModal(dialog.current, onStay) : undefined), [onStay]);
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="leave-title" aria-describedby="leave-text">
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
