/** The SQL of one row for these expressions: a user's views that may still earn, but for that of a code. */
export function selectUnfinishedViews(of: { botId: string; userId: string; code: string; now: string }): string {
  return `select count, last_active_at as "lastActiveAt", first_deadline as "firstDeadline"
   from unfinished_views(${of.botId}, ${of.userId}, ${of.code}, ${of.now})`;
}
