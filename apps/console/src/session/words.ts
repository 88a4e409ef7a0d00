import type { SignInProblem } from "@intermission/operator-api/problems";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

/** Those of signing in, and others for which its screens say more than elsewhere. */
type SignInRefusal = SignInProblem | "LINKED_ALREADY" | "LAST_SIGN_IN_METHOD" | "SIGN_IN_AGAIN" | "TOO_MANY_METHODS";

export const sessionWords = loadWords("session") satisfies Record<
  Language,
  { refusals: Record<SignInRefusal, string> }
>;
