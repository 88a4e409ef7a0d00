import { type Database, type Statement, statement } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";
import type { SourceRecord } from "./order-sources.ts";

interface Tries {
  botId: string;
  country: string;
  campaignId: string;
  tries: number;
  fills: number;
}

/** How the tags of a bot are ordered where they are not drawn by weight: by a list of campaigns, or by what they earned. */
type SetOrder = { mode: "fixed"; campaignIds: readonly string[] } | { mode: "earned" };

/** What this node knows of the sources whose answer is known only once they were requested. Each reading replaces it. */
export interface Sources {
  /** The campaigns all of whose creatives are VAST tags, and that sell nothing but rewarded views: what they earned is by these. */
  tags: ReadonlySet<string>;
  /** By `keyOf`. */
  records: ReadonlyMap<string, SourceRecord>;
  /** By bot; without one, tags are drawn by weight, as videos are. */
  orders: ReadonlyMap<string, SetOrder>;
  /** Not stored yet, by `keyOf`. */
  readonly waiting: Map<string, Tries>;
}

export function openSources(): Sources {
  return { tags: new Set(), records: new Map(), orders: new Map(), waiting: new Map() };
}

/** Of a rewarded view, the only format that has such sources. The country is "" where none is known. */
export function keyOf(botId: string, country: string, campaignId: string): string {
  return `${botId} ${country} ${campaignId}`;
}

/** While the database is away, no more is kept than this: what is left out only teaches less. */
const MAX_WAITING = 20_000;

/** Counts a request to a source, in memory. */
export function countTry(
  { waiting }: Sources,
  { botId, country, campaignId }: Pick<Tries, "botId" | "country" | "campaignId">,
  isFilled: boolean,
): void {
  const key = keyOf(botId, country, campaignId);
  const known = waiting.get(key);
  const counted = known ?? { botId, country, campaignId, tries: 0, fills: 0 };
  if (known === undefined) {
    if (waiting.size >= MAX_WAITING) return;
    waiting.set(key, counted);
  }
  counted.tries += 1;
  if (isFilled) counted.fills += 1;
}

const rows = rowParameters({
  bot_id: "text",
  country: "text",
  campaign_id: "text",
  tries: "bigint",
  fills: "bigint",
});

// Sorted, so that two nodes lock the rows that both have in one order.
const store = statement<never>(
  "sources.store-tries",
  `insert into source_tries (day, bot_id, country, campaign_id, tries, fills)
   select (now() at time zone 'utc')::date, counted.* from (${rows.table}) as counted order by bot_id, country, campaign_id
   on conflict (bot_id, day, country, campaign_id)
   do update set tries = source_tries.tries + excluded.tries, fills = source_tries.fills + excluded.fills`,
);

/** Stores what was counted; after a fault it is counted with the next round. */
export async function storeTries(database: Pick<Database, "run">, sources: Sources): Promise<void> {
  const counted = [...sources.waiting.values()];
  if (counted.length === 0) return;
  sources.waiting.clear();
  try {
    await database.run(
      store,
      rows.values(
        counted.map(({ botId, country, campaignId, tries, fills }) => ({
          bot_id: botId,
          country,
          campaign_id: campaignId,
          tries,
          fills,
        })),
      ),
    );
  } catch (error) {
    for (const one of counted) {
      const newer = sources.waiting.get(keyOf(one.botId, one.country, one.campaignId));
      const tries = one.tries + (newer?.tries ?? 0);
      const fills = one.fills + (newer?.fills ?? 0);
      sources.waiting.set(keyOf(one.botId, one.country, one.campaignId), { ...one, tries, fills });
    }
    throw error;
  }
}

const readTags = statement<{ campaignId: string }>(
  "sources.tags",
  `select campaign_id as "campaignId" from campaigns
   where status = 'active' and formats = '{rewarded}'
     and exists (select from campaign_creatives where campaign_creatives.campaign_id = campaigns.campaign_id)
     and not exists (select from campaign_creatives join creatives using (creative_id)
       where campaign_creatives.campaign_id = campaigns.campaign_id and kind <> 'vast')
     and not exists (select from buyers where buyers.campaign_id = campaigns.campaign_id)`,
);

/** Those with the most requests: the others are assumed to be as their price says. */
const MAX_RECORDS = 50_000;
const DAYS = 7;

// Sums of whole days (UTC), of which the last one is not over. What was earned before the requests were counted is not by them.
const readRecords = statement<Tries & Pick<SourceRecord, "completed" | "earnedMicros">>(
  "sources.records",
  `with counted as (
     select bot_id, country, campaign_id, sum(tries)::bigint as tries, sum(fills)::bigint as fills, min(day) as since
     from source_tries where day > $1::date - ${DAYS} and ($2::text is null or bot_id = $2)
     group by bot_id, country, campaign_id order by tries desc limit ${MAX_RECORDS}
   ), earned as (
     select bot_id, country, campaign_id, sum(spend_micros)::bigint as micros, sum(rewards)::bigint as completed
     from counted join stats_audiences using (bot_id, country, campaign_id)
     where span = 'day' and starts_at >= ($1::date - ${DAYS - 1})::timestamp at time zone 'utc'
       and starts_at >= since::timestamp at time zone 'utc'
     group by bot_id, country, campaign_id
   )
   select bot_id as "botId", country, campaign_id as "campaignId", tries, fills, coalesce(completed, 0) as completed,
     coalesce(micros, 0) as "earnedMicros"
   from counted left join earned using (bot_id, country, campaign_id)`,
);

// Reads own videos and bids, which always return an ad, of the bots whose sources are ordered by earnings.
// Unnamed, since it runs once a minute, and its best plan depends on how many bots have such an order.
const readShown: Statement<Tries & Pick<SourceRecord, "completed" | "earnedMicros">> = {
  name: "",
  text: `select bot_id as "botId", country, campaign_id as "campaignId", sum(fills)::bigint as tries, sum(fills)::bigint as fills,
     sum(rewards)::bigint as completed, sum(spend_micros)::bigint as "earnedMicros"
   from stats_audiences
   where span = 'day' and starts_at >= ($1::date - ${DAYS - 1})::timestamp at time zone 'utc' and campaign_id <> ''
     and bot_id in (select bot_id from source_orders where mode = 'earned')
   group by bot_id, country, campaign_id having sum(fills) > 0 order by sum(fills) desc limit ${MAX_RECORDS}`,
};

const readSetOrders = statement<{ botId: string; mode: SetOrder["mode"]; campaignIds: string[] }>(
  "sources.set-orders",
  `select bot_id as "botId", mode, campaign_ids as "campaignIds" from source_orders`,
);

const forget = statement<never>("sources.forget-tries", `delete from source_tries where day <= $1::date - ${DAYS}`);

/** The campaigns of tags, and what operators have said of their order. */
export async function readOrders(database: Pick<Database, "run">): Promise<Pick<Sources, "tags" | "orders">> {
  const tags = new Set((await database.run(readTags, [])).map(({ campaignId }) => campaignId));
  const orders = (await database.run(readSetOrders, [])).map(({ botId, mode, campaignIds }): [string, SetOrder] => [
    botId,
    mode === "fixed" ? { mode, campaignIds } : { mode },
  ]);
  return { tags, orders: new Map(orders) };
}

/** Reads anew what orders are made from. */
export async function readSources(database: Pick<Database, "run">, sources: Sources, now: Date): Promise<void> {
  Object.assign(sources, await readOrders(database));
  // Without a tag, or a bot whose tags are ordered, nothing is ordered.
  const found =
    sources.tags.size === 0 || sources.orders.size === 0
      ? []
      : [
          ...(await database.run(readShown, [dayOf(now)])),
          // Last, so that a tag's record includes its requests without an ad.
          ...(await database.run(readRecords, [dayOf(now), null])),
        ];
  sources.records = new Map(
    found.map(({ botId, country, campaignId, ...record }) => [keyOf(botId, country, campaignId), record]),
  );
  await database.run(forget, [dayOf(now)]);
}

/** Those of one bot by campaign, of viewers of one country or of all. */
export async function recordsOf(
  database: Pick<Database, "run">,
  { botId, country, now }: { botId: string; country: string | undefined; now: Date },
): Promise<Map<string, SourceRecord>> {
  const records = new Map<string, SourceRecord>();
  for (const row of await database.run(readRecords, [dayOf(now), botId])) {
    if (country !== undefined && row.country !== country) continue;
    const { tries = 0, fills = 0, completed = 0, earnedMicros = 0 } = records.get(row.campaignId) ?? {};
    records.set(row.campaignId, {
      tries: tries + row.tries,
      fills: fills + row.fills,
      completed: completed + row.completed,
      earnedMicros: earnedMicros + row.earnedMicros,
    });
  }
  return records;
}

function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}

const EVERY_MS = 60_000;
const STORE_EVERY_MS = 5000;

/** Stores what was counted every five seconds, and reads the sums every minute, until it is stopped: then what was counted is stored. */
export function startReadingSources(deps: {
  database: Pick<Database, "run">;
  sources: Sources;
  log: Pick<FastifyBaseLogger, "error">;
  now: () => Date;
}): BackgroundLoop {
  const { database, sources, log, now } = deps;
  let readAt = Number.NEGATIVE_INFINITY;
  const loop = startLoop({
    everyMs: STORE_EVERY_MS,
    async round() {
      await storeTries(database, sources);
      if (performance.now() - readAt < EVERY_MS) return undefined;
      await readSources(database, sources, now());
      readAt = performance.now();
      return undefined;
    },
    onFault: (error) => log.error({ err: error }, "the order of VAST tags could not be learned; the last one holds"),
  });
  return {
    get health() {
      return loop.health;
    },
    async stop() {
      await loop.stop();
      await storeTries(database, sources).catch((error: unknown) => {
        log.error({ err: error }, "the last requests to VAST tags could not be stored before the stop");
      });
    },
  };
}
