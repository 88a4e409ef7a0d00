/** The result of `limit_of_viewer`, the single rule for cooldown and daily cap (`limit-of-viewer.sql`). */
export type ViewerLimit =
  | { outcome: "free" }
  | { outcome: "limited"; reason: "cooldown" | "daily-cap"; availableAt: Date };
