/** What the bot asks of its publisher's backend. Whatever fails throws; what can be expected is an outcome. */
export interface RewardsPort {
  createAd(
    userId: string,
  ): Promise<
    | { outcome: "created"; miniappUrl: string; directLink: string }
    | { outcome: "unavailable"; retryAfterSeconds: number | undefined }
  >;
  balance(userId: string): Promise<number>;
  /** The same key never spends twice. */
  spend(
    userId: string,
    amount: number,
    key: string,
  ): Promise<{ outcome: "spent" | "insufficient"; balance: number } | { outcome: "conflict" }>;
  /** When the user was last paid for an ad, if that was after `since`. */
  lastPaidAt(userId: string, since: Date): Promise<Date | undefined>;
}

/** One line of the publisher's ledger. */
export interface RecordedEntry {
  readonly entryId: string;
  readonly userId: string;
  /** Null where the user spent. */
  readonly event: "rewarded" | "direct_link" | null;
  readonly amount: number;
  /** Why an event paid nothing. */
  readonly reason: string | null;
  readonly balance: number | null;
}
