import { firstEventIdAt } from "@intermission/ad-core/code";
import { daysLater, startOfDay } from "@intermission/operator-api/days-in-zone";
import type { Database, Statement } from "@intermission/postgres/open-database";
import { type Figures, quotient } from "./figures-of.ts";
import { readTotal } from "./read-report.ts";
import type { SumFilter } from "./read-sums.ts";
import { type Bucket, bucketsOf } from "./time-pieces.ts";

interface UsersQuestion {
  of: Pick<SumFilter, "botIds" | "campaignIds" | "creativeId">;
  /** Whole hours: from (included) to (excluded). */
  from: Date;
  to: Date;
  now: Date;
  timeZone?: string | undefined;
}

export type UsersReport =
  | {
      state: "read";
      users: number;
      /** The days of each user, added up. */
      userDays: number;
      /** Users with activity on more than one day. */
      returningUsers: number;
      /** The part of a day's users who return on the next day; null: no day of the period has a complete next day. */
      nextDayShare: number | null;
      /** Null: there are no users. */
      revenuePerUserMicros: bigint | null;
      revenuePerUserDayMicros: bigint | null;
    }
  /** Of more than one answer may read; of requests that are no longer kept. */
  | { state: "too-many" | "not-kept" };

/** What one answer may read, some 700 ms of PostgreSQL. */
const MAX_USES_READ = 500_000;

interface Uses {
  uses: number;
  requests: number;
  users: number;
  userDays: number;
  returningUsers: number;
  /** Days of users with a complete next day, and the number of these on whose next day the user returned. */
  withNextDay: number;
  cameNextDay: number;
}

/*
 * Reads facts, since users are in no sum. The node cuts the days, as for all reports: `$9` is when each begins, `$10` how many of
 * them are whole. A released click was paid later than the user came. Unnamed: its best plan depends on the filters.
 */
const read: Statement<Uses> = {
  name: "",
  text: `with uses as materialized (
      select user_id, occurred_at, true as is_request from ad_requests
      where occurred_at >= $1 and occurred_at < $2 and outcome <> 'refused' and ($5::text[] is null or bot_id = any ($5))
        and ($6::text[] is null or campaign_id = any ($6)) and ($7::text is null or creative_id = $7)
      union all
      select user_id, occurred_at, false from events
      where event_id >= $3 and event_id < $4 and event = 'direct_link' and price_micros is not null and not is_released
        and ($5::text[] is null or bot_id = any ($5)) and ($6::text[] is null or campaign_id = any ($6))
        and ($7::text is null or creative_id = $7)
      limit $8::integer + 1
    ),
    days as materialized (select distinct user_id, width_bucket(occurred_at, $9::timestamptz[]) as day from uses),
    nexts as (select user_id, day, lead(day) over (partition by user_id order by day) as next from days)
    select (select count(*) from uses) as uses, (select count(*) from uses where is_request) as requests,
      count(distinct user_id) as users, count(*) as "userDays",
      count(distinct user_id) filter (where next is not null) as "returningUsers",
      count(*) filter (where day < $10::integer) as "withNextDay",
      count(*) filter (where day < $10 and next = day + 1) as "cameNextDay"
    from nexts`,
};

/** How many users requested an ad or clicked a direct link, on how many days, and the publishers' revenue for each. */
export async function readUsers(
  database: Pick<Database, "run">,
  { of, from, to, now, timeZone = "UTC" }: UsersQuestion,
  maxUses = MAX_USES_READ,
): Promise<UsersReport> {
  // Before the facts, of which there may only be more.
  const total = await readTotal(database, { of, from, to });
  const days = bucketsOf({ from, to }, "day", timeZone);
  const { botIds, campaignIds, creativeId } = of;
  const [uses] = await database.run(read, [
    from,
    to,
    firstEventIdAt(from),
    firstEventIdAt(to),
    botIds,
    campaignIds,
    creativeId,
    maxUses,
    days.map((day) => day.from),
    wholeDays(days, { timeZone, now }),
  ]);
  if (uses === undefined) throw new Error("a sum without groups has one row");
  if (uses.uses > maxUses) return { state: "too-many" };
  if (uses.requests < requestsOf(total)) return { state: "not-kept" };
  const { users, userDays, returningUsers, withNextDay, cameNextDay } = uses;
  const per = (count: number) => (count === 0 ? null : quotient(total.revenueMicros, BigInt(count)));
  return {
    state: "read",
    users,
    userDays,
    returningUsers,
    nextDayShare: withNextDay === 0 ? null : cameNextDay / withNextDay,
    revenuePerUserMicros: per(users),
    revenuePerUserDayMicros: per(userDays),
  };
}

/** The number of complete days in the period. On an incomplete day users may still return. */
function wholeDays(days: readonly Bucket[], { timeZone, now }: { timeZone: string; now: Date }): number {
  const isWhole = ({ key, to }: Bucket) =>
    to <= now && to.getTime() === startOfDay(timeZone, daysLater(key, 1)).getTime();
  return days.filter(isWhole).length;
}

/** Those of which each is a row; the refused ones are not by users. */
function requestsOf({ requests, limitedCount }: Figures): number {
  return requests + limitedCount;
}
