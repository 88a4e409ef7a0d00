/** One webhook that was kept: its bytes verified, and what they did to the ledger. */
export interface Receipt {
  receivedAt: string;
  outcome: ReceiptOutcome;
  /** Why it paid nothing, or was not recorded. */
  reason: string | null;
  /** The event's id; made here where it brought none. */
  eventId: string;
  /** What follows is null where the webhook was no event. */
  event: "rewarded" | "direct_link" | null;
  userId: string | null;
  code: string | null;
  /** Whole units; null where it has no line in the ledger. */
  amount: number | null;
  /** How often it came after the first time. */
  duplicates: number;
  lastDuplicateAt: string | null;
  /** The text whose UTF-8 bytes were signed, of an invalid one its beginning; null where reconciliation fetched the event. */
  rawBody: string | null;
  /** `X-Signature` as it came. Not a secret. */
  signatureHeader: string | null;
  /** Nothing is kept before its signature holds. */
  verified: true;
}

/**
 * `refused`: in the ledger with zero units. `unmatched`: not in the ledger, because it names no code and none fits.
 * `invalid`: signed, but no event for this bot.
 */
export type ReceiptOutcome = "credited" | "refused" | "unmatched" | "invalid";

export interface ReceiptQuery {
  /** `duplicate`: those that came more than once. `event`: all that are not invalid. */
  outcome?: ReceiptOutcome | "duplicate" | "event" | undefined;
  userId?: string | undefined;
  since?: Date | undefined;
  limit: number;
}

/** Webhooks that came without a good signature, and left no more than this. */
export interface RefusalCount {
  hour: string;
  reason: string;
  refused: number;
  lastAt: string;
}

/** One event to be recorded, whatever brought it. Its id is what makes a repeat harmless. */
export interface EventLine {
  eventId: string;
  event: "rewarded" | "direct_link";
  userId: string;
  code: string | null;
  reference: string | null;
  occurredAt: string | null;
  isTest: boolean;
  rawBody: string | null;
  signatureHeader: string | null;
}

export interface Payout {
  readonly rewarded: number;
  readonly directLink: number;
  /** Paid rewards of a user in one UTC day; undefined is no cap. */
  readonly dailyCap: number | undefined;
  readonly perCode: "once" | "each";
}
