/** SQL of one row about the user's views that may still earn, except the view of `code`. The arguments are SQL expressions. */
export function selectUnfinishedViews(of: { botId: string; userId: string; code: string; now: string }): string {
  return `select count, last_active_at as "lastActiveAt", first_deadline as "firstDeadline"
   from unfinished_views(${of.botId}, ${of.userId}, ${of.code}, ${of.now})`;
}
