import type { NamedReward } from "@intermission/ad-core/client-api";
import { useLayoutEffect, useRef } from "react";
import { Message, useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { openModal } from "../ui/modal.ts";

/** Shown over the held video. The safe choice has the focus, and Escape selects it. */
export function LeaveDialog({
  reward,
  seconds,
  onStay,
  onLeave,
}: {
  /** What is lost, if the bot names it. */
  reward: NamedReward | undefined;
  seconds: number;
  onStay: () => void;
  onLeave: () => void;
}) {
  const { text, amount } = useTranslator();
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => (dialog.current ? openModal(dialog.current, onStay) : undefined), [onStay]);
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby="leave-title" aria-describedby="leave-text">
      <h2 id="leave-title">
        {reward ? <Message id="leave.named" values={{ reward: amount(reward) }} /> : text("leave.title")}
      </h2>
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
