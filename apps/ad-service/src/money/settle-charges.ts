import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";
import { issueStatements } from "./statements.ts";

/** Rows that get entries: their row in `money_progress`, and how to write a batch of them. */
interface Source {
  name: "events" | "refunds" | "impressions";
  end: Statement<{ xid: string }>;
  settle: Statement<{ source: string }>;
}

const BATCH = 10_000;

/**
 * Entries of priced rows in commit order, with what they consist of: one transaction for each advertiser and month of a batch. The id of the transaction
 * names the batch, and the batch's entries commit with the position, so that each row is charged once.
 */
function source(
  name: Source["name"],
  { kind, owed, prefix = kind }: { kind: "charge" | "refund"; owed: string; prefix?: string },
  from: (range: string, limit: string) => string,
): Source {
  const sign = kind === "charge" ? "" : "-";
  return {
    name,
    end: statement(
      `money.end-of-${name}`,
      `select xid from ${from("xid >= $1::xid8", `order by xid limit ${BATCH + 1}`)} order by xid offset ${BATCH} limit 1`,
    ),
    settle: statement(
      `money.settle-${name}`,
      `with facts as (
        select advertiser_id, bot_id, campaign_id, event, ${sign}(${owed}) as price, ${sign}revenue_micros as revenue, occurred_at,
          concat_ws(' ', '${prefix}', advertiser_id, to_char(occurred_at at time zone 'utc', 'YYYY-MM'), $2::text) as id
        from ${from("xid >= $1::xid8 and xid < $2::xid8", "offset 0")} join campaigns using (campaign_id) where price_micros > 0
      ),
      made as (insert into money_transactions (transaction_id) select distinct id from facts),
      -- Late entries belong to the first month without a statement.
      times as (
        select id, greatest(max(occurred_at), (
          select (max(month) + interval '1 month') at time zone 'utc' from money_statements
        )) as at from facts group by id
      ),
      sides as (
        select id, 'advertiser:' || advertiser_id as account, -sum(price) as amount from facts group by 1, 2
        union all select id, 'publisher:' || bot_id, sum(revenue) from facts group by 1, 2
        union all select id, 'revenue', sum(price - revenue) from facts group by 1
      ),
      listed as (
        insert into money_items (transaction_id, account, campaign_id, event, unit_micros, quantity)
        select id, 'advertiser:' || advertiser_id, campaign_id, event, abs(price), count(*) from facts where price <> 0 group by 1, 2, 3, 4, 5
        union all
        select id, 'publisher:' || bot_id, null, event, abs(revenue), count(*) from facts where revenue <> 0 group by 1, 2, 4, 5
      ),
      entered as (
        insert into money_entries (transaction_id, account, kind, amount_micros, currency, at)
        select id, account, '${kind}', amount, (select currency from deployment), at
        from sides join times using (id) where amount <> 0 order by id, account
      )
      update money_progress set xid = $2::xid8, settled_until = coalesce($3::timestamptz, settled_until)
       where source = '${name}' and $1::xid8 is not null returning source`,
    ),
  };
}

/** A buyer owes what was shown, and its events have only the share of the publisher. */
const ofEvents = "case when campaign_id in (select campaign_id from buyers) then 0 else price_micros end";

const sources: readonly Source[] = [
  // Through the index of the feed.
  source(
    "events",
    { kind: "charge", owed: ofEvents },
    (range, limit) => `(select bot_id as id from bots) as bot cross join lateral (
      select * from events where events.bot_id = bot.id and price_micros is not null and ${range} ${limit}
    ) as events`,
  ),
  source(
    "refunds",
    { kind: "refund", owed: ofEvents },
    (range, limit) => `(select * from refunds where ${range} ${limit}) as refunds`,
  ),
  source(
    "impressions",
    { kind: "charge", owed: "price_micros", prefix: "shown" },
    (range, limit) => `(
      select bot_id, campaign_id, 'impression' as event, price_micros, revenue_micros, shown_at as occurred_at, xid
      from bought_impressions where ${range} ${limit}
    ) as impressions`,
  ),
];

// One node settles at a time: the others skip the locked row.
const claim = statement<{ xid: string; settled: string; now: Date }>(
  "money.claim",
  `select xid, settled_xid() as settled, clock_timestamp() as now
   from money_progress where source = $1 for update skip locked`,
);

/** Writes the entries of one batch of each source, of rows whose transactions have ended. Returns whether there are more. */
export async function settleCharges(database: Pick<Database, "transaction">): Promise<{ hasMore: boolean }> {
  let hasMore = false;
  for (const one of sources) hasMore = (await database.transaction((tx) => settleBatch(tx, one))) || hasMore;
  return { hasMore };
}

async function settleBatch(tx: Transaction, { name, end, settle }: Source): Promise<boolean> {
  const [place] = await tx.run(claim, [name]);
  if (!place || BigInt(place.settled) <= BigInt(place.xid)) return false;
  const found = (await tx.run(end, [place.xid]))[0]?.xid;
  const upTo = found === undefined ? place.settled : endOfBatch(place, found);
  const isAll = upTo === place.settled;
  await tx.run(settle, [place.xid, upTo, isAll ? place.now : null]);
  return !isAll;
}

/** A batch has at least one whole transaction, however many rows it wrote. */
function endOfBatch({ xid, settled }: { xid: string; settled: string }, end: string): string {
  const next = BigInt(end) > BigInt(xid) ? BigInt(end) : BigInt(xid) + 1n;
  return String(next < BigInt(settled) ? next : BigInt(settled));
}

/**
 * Few entries are enough, since what an advertiser may still spend is decided from the events' own sums: a batch has one
 * transaction for each advertiser.
 */
const EVERY_MS = 600_000;

/** Settles, and issues the statements of months that are over, until it is stopped. Any number of nodes may run it. */
export function startSettlingCharges(deps: {
  database: Database;
  log: Pick<FastifyBaseLogger, "error">;
}): BackgroundLoop {
  return startLoop({
    everyMs: EVERY_MS,
    round: async () => {
      if ((await settleCharges(deps.database)).hasMore) return 0;
      await issueStatements(deps.database);
      return undefined;
    },
    onFault: (error) => deps.log.error({ err: error }, "charges could not be settled; trying again"),
  });
}
