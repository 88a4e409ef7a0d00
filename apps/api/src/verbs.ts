import type { CreateCodeOutcome, RewardEntry, RewardPage, SpendOutcome } from "@intermission/publisher/companion";

/*
 * What callers can do, as procedures and commands see it. In a file of its own: publishers install the router's type, which
 * names these types and must not reach Node's types or a store's.
 */

type EarnedEvent = NonNullable<RewardEntry["event"]>;

/** What a caller can do for one bot. */
export type Verbs = CodeVerbs & LedgerVerbs & ReceiptVerbs & UserVerbs;

interface CodeVerbs {
  createCode(request: { userId: string; reference: string | undefined }): Promise<CreateCodeOutcome>;
}

/** Why a recorded event paid nothing. */
export const refusalReasons = [
  "code-already-paid",
  "event-already-recorded",
  "code-of-another-user",
  "daily-cap",
  "no-reward",
  "test",
  "task-not-paid",
  "task-reversed",
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

export type RewardStatus =
  | { outcome: "not-yet" }
  | {
      outcome: "credited";
      amount: number;
      balance: number;
      event: EarnedEvent;
      recordedAt: string;
    }
  /** A task was paid, and its user left too early. `amount` is negative. */
  | { outcome: "reversed"; amount: number; balance: number; event: EarnedEvent; recordedAt: string }
  | { outcome: "refused"; reason: RefusalReason; amount: 0; balance: number; recordedAt: string };

export interface WatchedEntry {
  cursor: string;
  entry: RewardEntry;
}

export type WatchOutcome =
  | { outcome: "watching"; entries: AsyncIterable<WatchedEntry> }
  /** This node serves its limit of watches already, of the bot or of all bots. */
  | { outcome: "too-many"; limit: number };

/** The ledger was restored from a backup that is older than the cursor, so the entries after it are unknown. */
export class LostCursorError extends Error {
  override readonly name = "LostCursorError";
}

export interface LedgerVerbs {
  /** Whether this text can come from `next`, `cursor` or a tracked id. */
  isCursor(text: string): boolean;
  getRewardStatus(query: {
    userId: string | undefined;
    code: string | undefined;
    event: EarnedEvent | undefined;
  }): Promise<RewardStatus>;
  listRewards(query: { userId: string | undefined; cursor: string | undefined; limit: number }): Promise<RewardPage>;
  getBalance(userId: string): Promise<number>;
  spend(order: { userId: string; amount: number; idempotencyKey: string; note: string | null }): Promise<SpendOutcome>;
  latestCursor(): Promise<string>;
  watchRewards(
    query: { from: { cursor: string } | "start" | "now"; includeTests: boolean },
    signal: AbortSignal | undefined,
  ): WatchOutcome;
}

/** One webhook that was kept: its verified bytes, and its effect on the ledger. */
export interface Receipt {
  receivedAt: string;
  outcome: ReceiptOutcome;
  /** Why it paid nothing, or was not recorded. */
  reason: string | null;
  /** The event's id; made here if it has none. */
  eventId: string;
  /** The following fields are null if the webhook was not an event. */
  event: EarnedEvent | null;
  userId: string | null;
  code: string | null;
  /** Whole units; null if it has no entry in the ledger. */
  amount: number | null;
  /** What the event is worth to the publisher; null unless the ad service says so. */
  revenueMicros: number | null;
  /** ISO 4217. */
  currency: string | null;
  /** Number of arrivals after the first. */
  duplicates: number;
  lastDuplicateAt: string | null;
  /** The text whose UTF-8 bytes were signed, for an invalid one its beginning; null if reconciliation fetched the event. */
  rawBody: string | null;
  /** `X-Signature` as received. Not a secret. */
  signatureHeader: string | null;
  /** Nothing is kept before its signature is verified. */
  verified: true;
}

/**
 * `reversed`: in the ledger with the units that it took back. `refused`: with zero units. `unmatched`: not in the ledger, because it names no code and none fits.
 * `invalid`: signed, but not an event for this bot.
 */
export const receiptOutcomes = ["credited", "reversed", "refused", "unmatched", "invalid"] as const;
type ReceiptOutcome = (typeof receiptOutcomes)[number];

export interface ReceiptQuery {
  /** `duplicate`: those that arrived more than once. `event`: all that are not invalid. */
  outcome?: ReceiptOutcome | "duplicate" | "event" | undefined;
  userId?: string | undefined;
  since?: Date | undefined;
  limit: number;
}

/** Webhooks without a valid signature, of which only this count is kept. */
export interface RefusalCount {
  hour: string;
  reason: string;
  refused: number;
  lastAt: string;
}

export interface ReceiptVerbs {
  listReceipts(query: ReceiptQuery): Promise<Receipt[]>;
  listRefusals(since: Date): Promise<RefusalCount[]>;
}

/** The records of a user and what was done with them, or with `isErased` false would be done. */
export interface UserErasure {
  botId: string;
  userId: string;
  isErased: boolean;
  tables: { table: string; becomes: string; rows: number }[];
}

export interface UserVerbs {
  eraseUser(userId: string, isMeant: boolean): Promise<UserErasure>;
}

export type SignInOutcome =
  | { outcome: "signed-in"; sessionToken: string; expiresAt: string; user: { id: string } }
  | { outcome: "refused"; reason: "invalid" | "expired" };

export interface TelegramUserVerbs {
  signIn(
    botId: string | undefined,
    initData: string,
    address: string,
  ): SignInOutcome | { outcome: "too-many"; waitSeconds: number } | { outcome: "unknown-bot"; message: string };
}

/** Which version of the companion API answers, and on which store. */
export interface NodeStatus {
  version: string;
  /** The newest migration that ran on the store. */
  schema: string;
  /** `server`: address and port, or "socket" for a database on the same machine. `postgres`: its version. */
  store: { server: string; database: string; postgres: string };
}
