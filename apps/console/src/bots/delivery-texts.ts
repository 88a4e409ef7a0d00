import { type AttemptAnswer, adviceCodeOf, explainedBy } from "@intermission/ad-core/advice-code";
import type { ReceiverWarning } from "@intermission/ad-core/client-words";
import type { AdviceCode } from "@intermission/ad-core/publisher-advice";
import { refusalOfAnswer, type WebhookRefusal, type WrongSignatureCause } from "@intermission/ad-core/webhook-refusal";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

const adviceWords = loadWords("deliveryAdvice") satisfies Record<
  Language,
  { advice: Record<AdviceCode, string>; wrongSignature: Record<WrongSignatureCause, string> }
>;

/** What to check when a receiver answers like this; undefined when all is well. */
export function adviceText(language: Language, answer: AttemptAnswer): string | undefined {
  const code = adviceCodeOf(answer);
  if (code === undefined) return undefined;
  const words = adviceWords[language];
  const refusal = code === "401" && answer.text !== null ? refusalOfAnswer(answer.text) : undefined;
  if (refusal !== undefined) return words.answers(refusalText(language, refusal));
  const said = explainedBy(answer, code);
  return said === undefined ? words.advice[code] : `${words.says(said)} ${words.advice[code]}`;
}

/** What to do about a receiver that answers 2xx. */
export function warningText(language: Language, warning: ReceiverWarning): string {
  return adviceWords[language].advice[warning];
}

function refusalText(language: Language, refusal: WebhookRefusal): string {
  const { refusals, wrongSignature } = adviceWords[language];
  switch (refusal.fault) {
    case "missing-signature":
    case "malformed-signature":
    case "wrong-webhook-signature":
      return refusals[refusal.fault];
    case "wrong-signature":
      return wrongSignature[refusal.cause];
    case "stale":
    case "future":
      return refusals[refusal.fault](`${refusal.seconds}`);
    default:
      return refusal satisfies never;
  }
}
