/** No code lives longer than 24 h, no session longer than its code by more than minutes: bounds the index range. */
const OLDEST = "interval '25 hours'";

/** The SQL of one row, `UnfinishedViews`, for these expressions: a user's views that may still earn, but for that of a code. */
export function selectUnfinishedViews(of: { botId: string; userId: string; code: string; now: string }): string {
  return `select count(*) as count, max(coalesce(last_report_at, started_at)) as "lastActiveAt",
     min(deadline) as "firstDeadline"
   from (
     -- The order picks the index of the user's sessions also in a plan that was made while the table was empty.
     select * from ad_sessions
     where ad_sessions.bot_id = ${of.botId} and ad_sessions.user_id = ${of.userId}
       and opened_at > ${of.now}::timestamptz - ${OLDEST}
     order by opened_at desc offset 0
   ) as of_user
   where code <> ${of.code} and deadline > ${of.now} and state in ('playing', 'watched')`;
}
