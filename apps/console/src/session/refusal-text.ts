import { CallError } from "../operator/call-operator.ts";
import { useErrorText } from "../ui/answer-view.tsx";
import { useWords } from "../words/word-table.ts";
import { PasskeyFault } from "./passkeys.ts";
import { sessionWords } from "./words.ts";

/** Why signing in, or adding a way to sign in, failed. */
export function useRefusalText(): (error: unknown) => string {
  const words = useWords(sessionWords);
  const textOf = useErrorText();
  const refusals: Readonly<Record<string, string>> = words.refusals;
  return (error) => {
    if (error instanceof PasskeyFault) return words.passkeyFaults[error.fault];
    if (!(error instanceof CallError)) throw error;
    if (error.status === 429) return words.tooMany;
    return refusals[error.code] ?? textOf(error);
  };
}
