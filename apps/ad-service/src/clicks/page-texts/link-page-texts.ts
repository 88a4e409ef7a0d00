export type PageName =
  | "tap-needed"
  | "tap-again"
  | "machine"
  | "unknown-code"
  | "expired"
  | "used"
  | "cooldown"
  | "daily-cap"
  | "no-ad"
  | "address-limit"
  | "too-many-visits"
  | "unavailable";

/** The texts of one language. `{when}` is a duration from now, such as "in 5 minutes"; `{bot}` is the bot's username. */
export interface LinkPageTexts {
  go: string;
  back: string;
  pages: Record<PageName, { title: string; text: string }>;
}
