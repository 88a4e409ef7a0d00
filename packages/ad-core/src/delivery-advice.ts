import { type AttemptAnswer, adviceCodeOf, explainedBy } from "./advice-code.ts";
import type { ReceiverWarning } from "./client-words.ts";
import { operatorAdvice } from "./operator-advice.ts";
import { type AdviceCode, publisherAdvice } from "./publisher-advice.ts";
import { describeRefusal, refusalOfAnswer } from "./webhook-refusal.ts";

export type { AttemptAnswer } from "./advice-code.ts";

/** Who reads the advice: a publisher has a token, an operator has commands. */
export type Adviser = "operator" | "publisher";

const advices: Readonly<Record<Adviser, Readonly<Record<AdviceCode, string>>>> = {
  operator: operatorAdvice,
  publisher: publisherAdvice,
};

/** What to check when an endpoint answers like this, in plain words; undefined when all is well. */
export function adviseOnAnswer(answer: AttemptAnswer, reader: Adviser): string | undefined {
  const code = adviceCodeOf(answer);
  if (code === undefined) return undefined;
  const refusal = code === "401" && answer.text !== null ? refusalOfAnswer(answer.text) : undefined;
  if (refusal) {
    return reader === "operator"
      ? `it rejected the signature: ${describeRefusal(refusal, "its machine")}`
      : `The receiver answers: ${describeRefusal(refusal, "the receiver's machine")}.`;
  }
  const words = explainedBy(answer, code);
  const advice = advices[reader][code];
  if (words === undefined) return advice;
  return reader === "operator" ? `it says "${words}"; ${advice}` : `The receiver says "${words}". ${advice}`;
}

/** What to check after a test, in plain words; undefined when all is well. */
export function adviseOnTest(
  answer: AttemptAnswer & { readonly warnings: readonly ReceiverWarning[] },
  reader: Adviser,
): string | undefined {
  const { warnings } = answer;
  if (warnings.length === 0) return adviseOnAnswer(answer, reader);
  const advice = warnings.map((warning) =>
    adviceCodeOf(answer) === warning ? adviseOnAnswer(answer, reader) : adviseOnWarning(warning, reader),
  );
  return advice.join(reader === "operator" ? "; " : " ");
}

/** What to do about a receiver that answers 2xx, in plain words. */
export function adviseOnWarning(warning: ReceiverWarning, reader: Adviser): string {
  return advices[reader][warning];
}
