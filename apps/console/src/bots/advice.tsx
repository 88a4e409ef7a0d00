import type { ReceiverWarning } from "@intermission/ad-core/client-words";
import type { DeliveryAttempt } from "@intermission/operator-api/deliveries";
import { lazy, Suspense } from "react";
import { useLanguage } from "../words/word-table.ts";

// The sentences are many, and most screens need none of them.
const texts = () => import("./delivery-texts.ts");

const AttemptAdvice = lazy(async () => {
  const { adviceText } = await texts();
  return {
    default({ attempt }: { attempt: DeliveryAttempt }) {
      const text = adviceText(useLanguage(), { ...attempt, text: attempt.responseText });
      return text === undefined ? null : <p className="late">{text}</p>;
    },
  };
});

/** What to check after an attempt that failed, or whose 2xx may mean nothing. */
export function Advice({ attempt }: { attempt: DeliveryAttempt | undefined }) {
  return (
    attempt && (
      <Suspense>
        <AttemptAdvice attempt={attempt} />
      </Suspense>
    )
  );
}

const WarningTexts = lazy(async () => {
  const { warningText } = await texts();
  return {
    default({ warnings }: { warnings: readonly ReceiverWarning[] }) {
      const language = useLanguage();
      return warnings.map((warning) => (
        <p key={warning} className="late">
          {warningText(language, warning)}
        </p>
      ));
    },
  };
});

/** Why the 2xx of a receiver may not mean that it records events. */
export function Warnings({ warnings }: { warnings: readonly ReceiverWarning[] }) {
  if (warnings.length === 0) return null;
  return (
    <Suspense>
      <WarningTexts warnings={warnings} />
    </Suspense>
  );
}
