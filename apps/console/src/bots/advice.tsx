import type { DeliveryAttempt } from "@intermission/operator-api/deliveries";
import { useLanguage } from "../words/word-table.ts";
import { adviceText } from "./delivery-texts.ts";

/** What to check after an attempt that failed. */
export function Advice({ attempt }: { attempt: DeliveryAttempt | undefined }) {
  const language = useLanguage();
  const text = attempt && adviceText(language, { ...attempt, text: attempt.responseText });
  return text === undefined ? null : <p className="late">{text}</p>;
}
