import type { AnyEventType } from "@intermission/ad-core/event-words";
import type { BilledKind } from "@intermission/operator-api/billing-log";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { type BilledEvent, entryText } from "./log-entry.ts";
import { appendToTiles, hashesAt, type StoredTile, TILE_WIDTH } from "./tiles.ts";

const BATCH = 10_000;

// One node appends at a time: the others skip the locked row.
const claim = statement<{ logId: number; xid: string; size: number; settled: string }>(
  "billing-log.claim",
  `select log_id as "logId", xid, size, settled_xid() as settled from billing_logs
   where log_id = (select max(log_id) from billing_logs) for update skip locked`,
);

/** What an event is billed as; one that takes a task back has no price. */
const billedAs = {
  rewarded: "view",
  direct_link: "click",
  interstitial: "interstitial",
  task: "task",
} as const satisfies Record<Exclude<AnyEventType, "task_reversed">, BilledKind>;

/** Another event with a price has no kind: the statement fails, and the log waits for it. */
const kindOfEvent = `case event ${Object.entries(billedAs)
  .map(([event, kind]) => `when '${event}' then '${kind}'`)
  .join(" ")} end`;

const isOwn = "campaign_id not in (select bought.campaign_id from buyers as bought)";

/**
 * Billed rows of transactions, through the index of the feed. Those of a sample are removed again, and stay out. So do events of
 * what buyers have bought: they owe impressions, and not events.
 */
const billedRows = (transactions: string, limit = "offset 0") => `
     (select event_rows.* from (select bot_id as id from bots where bot_id not in (select unnest(bot_ids) from sample)) as bot
       cross join lateral (
         select ${kindOfEvent} as kind, event_id, bot_id, code, campaign_id,
           creative_id, price_micros, occurred_at, xid
         from events where events.bot_id = bot.id and price_micros is not null and ${isOwn} and ${transactions} ${limit}
       ) as event_rows
     union all
     (select 'refund', event_id, bot_id, null, campaign_id, creative_id, price_micros, occurred_at, xid
      from refunds where ${transactions} and ${isOwn} and bot_id not in (select unnest(bot_ids) from sample) ${limit})) as billed`;

const end = statement<{ xid: string }>(
  "billing-log.end",
  `select xid from ${billedRows("xid >= $1::xid8", `order by xid limit ${BATCH + 1}`)} order by xid offset ${BATCH} limit 1`,
);

type BilledRow = BilledEvent & { xid: string };

const read = statement<BilledRow>(
  "billing-log.read-billed",
  `select billed.kind, event_id as "eventId", billed.campaign_id as "campaignId", billed.xid, billed.occurred_at as at,
     price_micros::text as "priceMicros",
     coalesce(shown.sha256, encode(sha256(convert_to(shown.url, 'UTF8')), 'hex')) as "creativeHash",
     case billed.kind when 'click' then billed.occurred_at else watched.started_at end as "startedAt",
     watched.accepted_ms as "countedMs", encode(sha256(salt || convert_to(init_data, 'UTF8')), 'hex') as launch
   from ${billedRows("xid >= $1::xid8 and xid < $2::xid8")}
   left join lateral (
     select sha256, url from creatives where creatives.creative_id = billed.creative_id offset 0
   ) as shown on true
   left join lateral (
     select view_id, opened_at, started_at, accepted_ms from views
     where views.code = billed.code and views.bot_id = billed.bot_id offset 0
   ) as watched on billed.kind in ('view', 'interstitial')
   left join lateral (
     select salt, init_data from view_launches as launched
     where launched.code = billed.code and launched.bot_id = billed.bot_id and launched.opened_at = watched.opened_at
       and launched.view_id = watched.view_id
     offset 0
   ) as launches on true
   where price_micros > 0
   order by billed.xid, event_id, billed.kind`,
);

const readLast = statement<StoredTile>(
  "billing-log.read-last-tiles",
  `select level, tile_index as index, hashes
   from unnest($2::smallint[], $3::bigint[]) as last (level, tile_index) join billing_log_tiles using (level, tile_index)
   where log_id = $1`,
);

const entryRows = rowParameters(
  { log_index: "bigint", event_id: "text", kind: "text", campaign_id: "text", xid: "text", entry: "text" },
  { after: 1 },
);
const insertEntries = statement<never>(
  "billing-log.insert-entries",
  `insert into billing_log_entries (log_id, log_index, event_id, kind, campaign_id, xid, entry)
   select $1::integer, log_index, event_id, kind, campaign_id, xid::xid8, entry from (${entryRows.table}) as rows`,
);

const tileRows = rowParameters({ level: "integer", tile_index: "bigint", hashes: "bytea" }, { after: 1 });
const storeTiles = statement<never>(
  "billing-log.store-tiles",
  `insert into billing_log_tiles (log_id, level, tile_index, hashes)
   select $1::integer, level, tile_index, hashes from (${tileRows.table}) as rows
   on conflict (log_id, level, tile_index) do update set hashes = excluded.hashes`,
);

const move = statement<never>(
  "billing-log.move-position",
  "update billing_logs set xid = $2::xid8, size = $3 where log_id = $1",
);

/**
 * Appends one batch of billed rows whose transactions have ended, in the order of these. Entries, hashes and position commit
 * together: a node that dies leaves all of them or none, so that no row has two entries or none.
 */
export async function appendEntries(database: Pick<Database, "transaction">): Promise<{ hasMore: boolean }> {
  return database.transaction(async (tx) => {
    const [log] = await tx.run(claim, []);
    if (!log || BigInt(log.settled) <= BigInt(log.xid)) return { hasMore: false };
    const found = (await tx.run(end, [log.xid]))[0]?.xid;
    const upTo = found === undefined ? log.settled : endOfBatch(log, found);
    const rows = await tx.run(read, [log.xid, upTo]);
    await append(tx, log, rows);
    await tx.run(move, [log.logId, upTo, log.size + rows.length]);
    return { hasMore: upTo !== log.settled };
  });
}

/** A batch has at least one whole transaction, however many rows it wrote. */
function endOfBatch({ xid, settled }: { xid: string; settled: string }, found: string): string {
  const next = BigInt(found) > BigInt(xid) ? BigInt(found) : BigInt(xid) + 1n;
  return String(next < BigInt(settled) ? next : BigInt(settled));
}

async function append(
  tx: Transaction,
  { logId, size }: { logId: number; size: number },
  rows: readonly BilledRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const entries = rows.map(entryText);
  const levels: number[] = [];
  while (hashesAt(levels.length, size) > 0) levels.push(levels.length);
  const places = levels.map((level) => Math.floor(hashesAt(level, size) / TILE_WIDTH));
  const last = await tx.run(readLast, [logId, levels, places]);
  const bytes = entries.map((entry) => Buffer.from(entry, "utf8"));
  const tiles = appendToTiles({ size, last }, bytes);
  const stored = rows.map(({ eventId, kind, campaignId, xid }, place) => ({
    log_index: size + place,
    event_id: eventId,
    kind,
    campaign_id: campaignId,
    xid,
    entry: entries[place],
  }));
  await tx.run(insertEntries, [logId, ...entryRows.values(stored)]);
  const changed = tiles.map(({ level, index, hashes }) => ({
    level,
    tile_index: index,
    hashes: hashes.toString("hex"),
  }));
  await tx.run(storeTiles, [logId, ...tileRows.values(changed)]);
}
