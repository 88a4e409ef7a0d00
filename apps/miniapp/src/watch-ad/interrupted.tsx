import { useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";
import type { Stage } from "./watch-state.ts";

type Interruption = Extract<Stage, "left" | "superseded" | "incomplete" | "broken" | "over">;

interface InterruptedProps {
  stage: Interruption;
  onClose: () => void;
  onReopen: () => void;
  /** Requests another ad. */
  onAnother: () => void;
}

/** The ad stopped before its reward; it can be resumed unless its deadline has passed. */
export function Interrupted({ stage, onClose, onReopen, onAnother }: InterruptedProps) {
  const { text } = useTranslator();
  const { state, icon, action } = interruptions[stage];
  return (
    <Notice
      state={state}
      icon={icon}
      title={text(`${state}.title`)}
      action={
        <>
          {stage === "superseded" ? null : (
            <Button look="secondary" onClick={onClose}>
              {text("action.close")}
            </Button>
          )}
          <Button onClick={stage === "over" ? onAnother : onReopen}>{text(`action.${action}`)}</Button>
        </>
      }
    >
      <p className="secondary">{text(`${state}.text`)}</p>
    </Notice>
  );
}

const interruptions = {
  left: { state: "left", icon: "close", action: "continue" },
  incomplete: { state: "not-counted", icon: "note", action: "continue" },
  broken: { state: "broken", icon: "note", action: "tryAgain" },
  over: { state: "session-over", icon: "clock", action: "watchAd" },
  // Another window of this user has taken over the session, and stays open.
  superseded: { state: "superseded", icon: "windows", action: "continueHere" },
} as const satisfies Record<Interruption, object>;
