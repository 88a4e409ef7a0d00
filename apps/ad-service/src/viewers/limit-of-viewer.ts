/** What `limit_of_viewer` says, the one rule for cooldown and daily cap (`limit-of-viewer.sql`). */
export type ViewerLimit =
  | { outcome: "free" }
  | { outcome: "limited"; reason: "cooldown" | "daily-cap"; availableAt: Date };
