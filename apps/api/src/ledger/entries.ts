/** One entry of the ledger, as callers see it. */
export interface RewardEntry {
  entryId: string;
  userId: string;
  /** The event that earned it; null for a spend. */
  event: "rewarded" | "direct_link" | null;
  code: string | null;
  reference: string | null;
  eventId: string | null;
  /** Whole units: negative for a spend, 0 for an event that paid nothing. */
  amount: number;
  /** Why an event paid nothing, or the note of a spend. */
  reason: string | null;
  /** The user's balance after this entry. */
  balance: number | null;
  recordedAt: string;
}

/** Why a recorded event paid nothing. */
export type RefusalReason =
  | "code-already-paid"
  | "event-already-recorded"
  | "code-of-another-user"
  | "daily-cap"
  | "no-reward"
  | "test";

export type RewardStatus =
  | { outcome: "not-yet" }
  | {
      outcome: "credited";
      amount: number;
      balance: number;
      event: "rewarded" | "direct_link";
      recordedAt: string;
    }
  | { outcome: "refused"; reason: RefusalReason; amount: 0; balance: number; recordedAt: string };

export interface RewardPage {
  /** Newest first. */
  entries: RewardEntry[];
  /** Pass it as `cursor` for the next page; null at the end. */
  next: string | null;
}

export type SpendOutcome =
  | { outcome: "spent"; balance: number; entryId: string }
  | { outcome: "insufficient"; balance: number }
  /** This user used the key for another amount. */
  | { outcome: "conflict" };

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
  getRewardStatus(query: {
    userId: string | undefined;
    code: string | undefined;
    event: "rewarded" | "direct_link" | undefined;
  }): Promise<RewardStatus>;
  listRewards(query: { userId: string | undefined; cursor: string | undefined; limit: number }): Promise<RewardPage>;
  getBalance(userId: string): Promise<number>;
  spend(order: { userId: string; amount: number; idempotencyKey: string; note: string | null }): Promise<SpendOutcome>;
  latestCursor(): Promise<string>;
  watchRewards(
    asked: { from: { cursor: string } | "start" | "now"; includeTests: boolean },
    signal: AbortSignal | undefined,
  ): WatchOutcome;
}
