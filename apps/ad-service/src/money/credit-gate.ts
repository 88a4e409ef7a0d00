import { creditOf, type Terms, usualTerms } from "@intermission/operator-api/terms";
import type { Author } from "@intermission/postgres/audit";
import type { Transaction } from "@intermission/postgres/open-database";
import { askApproval, needsApproval, termsKey } from "./ask-approval.ts";

/** Credit of new advertisers: what needs a second person waits, and the advertiser is prepaid meanwhile. */
export const creditGate = {
  isWithheld: (tx: Transaction, terms: Terms): Promise<boolean> => needsApproval(tx, creditOf(terms)),

  async ask(
    tx: Transaction,
    { advertiserId, terms, author }: { advertiserId: string; terms: Terms; author: Author | undefined },
  ): Promise<void> {
    const requested = { operation: "setTerms", advertiserId, terms, before: usualTerms } as const;
    const amountMicros = creditOf(terms);
    await askApproval(tx, { requested, objectId: advertiserId, amountMicros, key: termsKey(advertiserId), author });
  },
};
