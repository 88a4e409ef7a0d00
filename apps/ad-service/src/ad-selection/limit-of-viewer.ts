/** The result of `limit_of_viewer`, the single rule for cooldown and daily cap (`limit-of-viewer.sql`). */
export type ViewerLimit =
  | { outcome: "free" }
  | { outcome: "limited"; reason: "cooldown" | "daily-cap"; availableAt: Date };

/** SQL of one row about the user's views that may still earn, except the view of `code`. The arguments are SQL expressions. */
export function selectUnfinishedViews(of: { botId: string; userId: string; code: string; now: string }): string {
  return `select count, last_active_at as "lastActiveAt", first_deadline as "firstDeadline"
   from unfinished_views(${of.botId}, ${of.userId}, ${of.code}, ${of.now})`;
}
