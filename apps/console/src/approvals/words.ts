import type { Requested, requestStates } from "@intermission/operator-api/money-requests";
import { loadWords, type Sayable } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const approvalWords = loadWords("approvals") satisfies Record<
  Language,
  {
    states: Record<(typeof requestStates)[number], string>;
    operations: Record<Exclude<Requested["operation"], "setApprovalAmount">, Sayable>;
  }
>;
