import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";
import type { UnfinishedViews } from "../viewers/limit-of-viewer.ts";

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

const unfinishedViews = statement<UnfinishedViews>(
  "ad-sessions.unfinished-views",
  selectUnfinishedViews({ botId: "$1", userId: "$2", code: "$4", now: "$3" }),
);

const latestUnfinished = statement<{ code: string }>(
  "ad-sessions.latest-unfinished",
  `select code from ad_sessions
   where bot_id = $1 and user_id = $2 and opened_at > $3::timestamptz - ${OLDEST}
     and state in ('playing', 'watched') and deadline > $3
   order by coalesce(last_report_at, started_at) desc limit 1`,
);

const continuable = statement<{ code: string }>(
  "ad-sessions.continuable",
  `select code from ad_sessions
   where bot_id = $1 and user_id = $2 and opened_at > $3::timestamptz - ${OLDEST} and deadline > $3
   order by state in ('playing', 'watched') desc, coalesce(last_report_at, started_at, opened_at) desc limit 1`,
);

/** A user's views that began and may still earn, but for the one of this code. */
export async function findUnfinishedViews(
  database: AdTransaction,
  { botId, userId, code, now }: { botId: string; userId: string; code: string; now: Date },
): Promise<UnfinishedViews> {
  const [found] = await database.run(unfinishedViews, [botId, userId, now, code]);
  return {
    count: found?.count ?? 0,
    lastActiveAt: found?.lastActiveAt ?? undefined,
    firstDeadline: found?.firstDeadline ?? undefined,
  };
}

/** The code of the view that a user left last: opened without a code, the mini-app goes on with it. */
export async function findUnfinishedCode(
  database: AdTransaction,
  { botId, userId, now }: { botId: string; userId: string; now: Date },
): Promise<string | undefined> {
  return (await database.run(latestUnfinished, [botId, userId, now]))[0]?.code;
}

/** The code of the user's session that an app left open shows: the view left last, else the latest offer or paid view. */
export async function findContinuableCode(
  database: AdTransaction,
  { botId, userId, now }: { botId: string; userId: string; now: Date },
): Promise<string | undefined> {
  return (await database.run(continuable, [botId, userId, now]))[0]?.code;
}
