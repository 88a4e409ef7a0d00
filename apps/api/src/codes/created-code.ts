export interface CreatedCode {
  code: string;
  /** Whole seconds left, rounded down, as the ad service counted them. */
  expiresInSeconds: number;
  expiresAt: string;
  /** For a `web_app` button. */
  miniappUrl: string;
  /** For a plain link into Telegram; null where BOT_USERNAME or MINI_APP_NAME is not set. */
  startappLink: string | null;
  directLink: string;
}

export type CreateCodeOutcome =
  | ({ outcome: "created" } & CreatedCode)
  | { outcome: "unavailable"; reason: UnavailableReason; retryAfterSeconds?: number };

/** Why no code is available now. The user did nothing wrong, and a later retry is safe. */
export type UnavailableReason = "rate-limited" | "ad-service-down" | "timeout" | "refused" | "unexpected-answer";
