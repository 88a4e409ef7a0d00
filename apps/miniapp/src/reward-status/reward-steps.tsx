import { formatMoment, isSameDay } from "../locales/format-time.ts";
import { useTranslator } from "../locales/use-translator.tsx";
import { Icon } from "../ui/icon.tsx";
import type { Step } from "./describe-steps.ts";

/** The steps of the reward, each with its time. */
export function RewardSteps({ steps }: { steps: readonly Step[] }) {
  const { text, language } = useTranslator();
  const now = new Date();
  const areDated = steps.some(({ at }) => at !== undefined && !isSameDay(new Date(at), now));
  return (
    <ol className={areDated ? "steps steps-dated" : "steps"} aria-label={text("steps.label")}>
      {steps.map(({ name, progress, at }) => (
        <li key={name} data-progress={progress}>
          <span className="step-mark">
            {progress === "done" ? <Icon name="check" /> : null}
            {progress === "failed" ? <Icon name="close" /> : null}
          </span>
          <div className="step-words">
            <span className="step-name">
              {text(`steps.${name}`)}
              <span className="only-heard">{text(`steps.${progress}`)}</span>
            </span>
            {at ? (
              <time className="step-time" dateTime={at}>
                {formatMoment(new Date(at), now, language)}
              </time>
            ) : null}
          </div>
        </li>
      ))}
    </ol>
  );
}
