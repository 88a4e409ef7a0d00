import { useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";
import type { Stage } from "./watch-state.ts";

export type Interruption = Extract<Stage, "left" | "superseded" | "incomplete" | "broken" | "over">;

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
  if (stage === "superseded") return <Superseded onReopen={onReopen} />;
  const { state, icon } = interruptions[stage];
  return (
    <Notice
      state={state}
      icon={icon}
      title={text(`${state}.title`)}
      action={
        stage === "over" ? (
          <>
            <Button look="secondary" onClick={onClose}>
              {text("action.close")}
            </Button>
            <Button onClick={onAnother}>{text("action.watchAd")}</Button>
          </>
        ) : (
          <Button onClick={onReopen}>{text(stage === "broken" ? "action.tryAgain" : "action.continue")}</Button>
        )
      }
    >
      <p className="secondary">{text(`${state}.text`)}</p>
    </Notice>
  );
}

const interruptions = {
  left: { state: "left", icon: "close" },
  incomplete: { state: "not-counted", icon: "note" },
  broken: { state: "broken", icon: "note" },
  over: { state: "session-over", icon: "clock" },
} as const satisfies Record<Exclude<Interruption, "superseded">, object>;

/** Another window of this user has taken over the session. */
export function Superseded({ onReopen }: { onReopen: () => void }) {
  const { text } = useTranslator();
  return (
    <Notice
      state="superseded"
      icon="windows"
      title={text("superseded.title")}
      action={<Button onClick={onReopen}>{text("action.continueHere")}</Button>}
    >
      <p className="secondary">{text("superseded.text")}</p>
    </Notice>
  );
}
