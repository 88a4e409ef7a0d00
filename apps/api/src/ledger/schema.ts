/** One line of the ledger, as callers see it. */
export interface RewardEntry {
  entryId: string;
  userId: string;
  /** What earned it; null where the user spent. */
  event: "rewarded" | "direct_link" | null;
  code: string | null;
  reference: string | null;
  eventId: string | null;
  /** Whole units: negative where the user spent, 0 where an event was recorded without pay. */
  amount: number;
  /** Why an event paid nothing, or the note of what was spent. */
  reason: string | null;
  /** The user's balance after this entry. */
  balance: number | null;
  recordedAt: string;
}

/** Why an event that was recorded paid nothing. */
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
  /** Pass as `cursor` to go on; null at the end. */
  next: string | null;
}

export type SpendOutcome =
  | { outcome: "spent"; balance: number; entryId: string }
  | { outcome: "insufficient"; balance: number }
  /** The key was used by this user for another amount. */
  | { outcome: "conflict" };

export interface WatchedEntry {
  cursor: string;
  entry: RewardEntry;
}

export type WatchOutcome =
  | { outcome: "watching"; entries: AsyncIterable<WatchedEntry> }
  /** So many watch on this node already. */
  | { outcome: "too-many"; limit: number };

/** The ledger was restored from a backup that is older than the cursor, so what lies after it is not known. */
export class LostCursorError extends Error {
  override readonly name = "LostCursorError";
}
