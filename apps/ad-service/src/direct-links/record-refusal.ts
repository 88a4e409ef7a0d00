import { type CommitGroup, groupCommits } from "@intermission/postgres/group-commits";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import type { CountableClick } from "./count-click.ts";

/** A visit that earned nothing, and why. */
export interface RefusedClick
  extends Pick<CountableClick, "botId" | "clickId" | "code" | "userId" | "userAgent" | "addressHash" | "occurredAt"> {
  /** A short word; never what the visitor sent. */
  reason: string;
}

/** Of each code and reason so many visits are kept in full; all are counted. */
const KEPT_IN_FULL = 5;
const HOUR_MS = 3_600_000;

// In the order of the keys, so that two batches never wait for one another.
const countUp = statement<{ key: string; count: number }>(
  "direct-links.count-refusals",
  `insert into click_refusals (bot_id, code, reason, hour, count)
   select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::bigint[])
     as refused(bot_id, code, reason, hour, count)
   order by hour, bot_id, code, reason
   on conflict (bot_id, code, reason, hour) do update set
     count = click_refusals.count + excluded.count, is_summed = false
   returning concat_ws(' ', bot_id, code, reason, extract(epoch from hour)::bigint) as key, count`,
);

// The look-up finds those that earlier hours kept. At the turn of an hour two nodes may keep a few more.
const keep = statement<never>(
  "direct-links.keep-refused",
  `insert into withheld_clicks (bot_id, click_id, code, user_id, outcome, user_agent, address_hash, occurred_at)
   select bot_id, click_id, code, user_id, reason, user_agent, address_hash, occurred_at
   from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::timestamptz[],
       $9::integer[])
     as visits(bot_id, click_id, code, user_id, reason, user_agent, address_hash, occurred_at, position)
   where position + (
     select count(*) from (
       select from withheld_clicks where withheld_clicks.bot_id = visits.bot_id and withheld_clicks.code = visits.code
         and withheld_clicks.outcome = visits.reason limit ${KEPT_IN_FULL}
     ) as kept
   ) <= ${KEPT_IN_FULL}
   on conflict do nothing`,
);

/** Counts refusals, many in one commit. */
export function refusalRecorder(database: AdDatabase): CommitGroup<RefusedClick, undefined> {
  return groupCommits<RefusedClick, undefined>({
    maxInFlight: database.kind === "embedded" ? 1 : 2,
    async run(batch) {
      const kept = await countRefusals(database, batch);
      // The counts are committed: whatever happens to the visits, the batch must not be counted again.
      await keepRefused(database, kept).catch((cause) => {
        throw new Error("the refused visits could not be kept in full", { cause });
      });
      return batch.map(() => undefined);
    },
  });
}

interface KeptClick extends RefusedClick {
  position: number;
}

/** Counts refusals by code, reason and hour. The first few of each are to be kept in full. */
export async function countRefusals(database: AdTransaction, refused: readonly RefusedClick[]): Promise<KeptClick[]> {
  const byKey = Map.groupBy(refused, keyOf);
  const firsts = [...byKey.values()].flatMap(([first]) => first ?? []);
  const counts = await database.run(countUp, [
    firsts.map(({ botId }) => botId),
    firsts.map(({ code }) => code),
    firsts.map(({ reason }) => reason),
    firsts.map(hourOf),
    firsts.map((first) => byKey.get(keyOf(first))?.length ?? 0),
  ]);
  return counts.flatMap(({ key, count }) => {
    const visits = byKey.get(key) ?? [];
    const before = count - visits.length;
    return visits
      .slice(0, Math.max(0, KEPT_IN_FULL - before))
      .map((visit, index) => ({ ...visit, position: index + 1 }));
  });
}

async function keepRefused(database: AdTransaction, kept: readonly KeptClick[]): Promise<void> {
  if (kept.length === 0) return;
  await database.run(keep, [
    kept.map(({ botId }) => botId),
    kept.map(({ clickId }) => clickId),
    kept.map(({ code }) => code),
    kept.map(({ userId }) => userId),
    kept.map(({ reason }) => reason),
    kept.map(({ userAgent }) => userAgent),
    kept.map(({ addressHash }) => addressHash),
    kept.map(({ occurredAt }) => occurredAt),
    kept.map(({ position }) => position),
  ]);
}

function keyOf(click: RefusedClick): string {
  return [click.botId, click.code, click.reason, hourOf(click).getTime() / 1000].join(" ");
}

function hourOf({ occurredAt }: RefusedClick): Date {
  return new Date(Math.floor(occurredAt.getTime() / HOUR_MS) * HOUR_MS);
}
