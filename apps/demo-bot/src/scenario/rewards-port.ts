/** What the bot needs from its publisher's backend. Failures throw; expected results are outcomes. */
export interface RewardsPort {
  createAd(
    userId: string,
  ): Promise<
    | { outcome: "created"; miniappUrl: string; directLink: string }
    | { outcome: "unavailable"; retryAfterSeconds: number | undefined }
  >;
  /** Channels to join, each by a link of the user's own. */
  tasks(userId: string, language: string): Promise<readonly { title: string; url: string; holdDays: number }[]>;
  balance(userId: string): Promise<number>;
  /** The same key never spends twice. */
  spend(
    userId: string,
    amount: number,
    key: string,
  ): Promise<{ outcome: "spent" | "insufficient"; balance: number } | { outcome: "conflict" }>;
  /** The time of the user's last payment for an ad; undefined if it is not after `since`. */
  lastPaidAt(userId: string, since: Date): Promise<Date | undefined>;
}

/** One entry of the publisher's ledger. */
export interface RecordedEntry {
  readonly entryId: string;
  readonly userId: string;
  /** Null for a purchase. */
  readonly event: "rewarded" | "direct_link" | "task" | "task_reversed" | null;
  /** The code that the event used; null for a purchase. */
  readonly code: string | null;
  /** That of the code; null for a purchase. */
  readonly reference: string | null;
  readonly amount: number;
  /** Why an event paid nothing. */
  readonly reason: string | null;
  readonly balance: number | null;
}
