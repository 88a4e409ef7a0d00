import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { inclusionRanges, rangesBeside } from "./merkle-tree.ts";
import { type BillingLog, findLog, hashesOfRanges } from "./read-log.ts";
import { proofText } from "./signed-note.ts";

/** An entry with its place in the log. */
interface PlacedEntry {
  logId: number;
  index: number;
  entry: string;
}

const findEntry = statement<PlacedEntry>(
  "billing-log.find-entry",
  `select log_id as "logId", log_index as index, entry from billing_log_entries
   where event_id = $1 and kind = any($2) order by log_id desc limit 1`,
);

/** `not-yet`: the newest checkpoint does not include it. */
type EventProof = { outcome: "proved"; proof: string } | { outcome: "unknown" } | { outcome: "not-yet" };

/** The proof of one entry, which needs nothing else to be verified (C2SP tlog-proof). */
export async function proveEvent(
  database: Pick<Transaction, "run">,
  { eventId, kinds }: { eventId: string; kinds: readonly string[] },
): Promise<EventProof> {
  const [found] = await database.run(findEntry, [eventId, kinds]);
  const log = found && (await findLog(database, found.logId));
  if (found === undefined || log === undefined) return { outcome: "unknown" };
  const { checkpoint, publishedSize, logId } = log;
  if (checkpoint === null || found.index >= publishedSize) return { outcome: "not-yet" };
  const path = await hashesOfRanges(database, logId, inclusionRanges(found.index, publishedSize));
  const entry = Buffer.from(found.entry, "utf8");
  return { outcome: "proved", proof: proofText({ entry, index: found.index, path, checkpoint }) };
}

/**
 * The entries of a statement: those of its charges and refunds. The id of a charge names its advertiser, its month and the
 * position up to which its batch was settled (money/settle-charges.ts), and an entry has the position of its row; so an entry
 * belongs to the first charge of its kind and month that ends behind it.
 */
const findEntries = statement<PlacedEntry>(
  "billing-log.entries-of-statement",
  `with settled as (
     select entered.kind, at, split_part(transaction_id, ' ', 3) as month, split_part(transaction_id, ' ', 4)::xid8 as up_to
     from money_entries as entered where account = 'advertiser:' || $1::text and entered.kind in ('charge', 'refund')
       and split_part(transaction_id, ' ', 1) in ('charge', 'refund')
   ),
   batches as (
     select kind, month, up_to, at, coalesce(lag(up_to) over (partition by kind, month order by up_to), '0') as since from settled
   ),
   of_month as (
     select kind, month, since, up_to from batches
     where at >= ($2 || '-01')::timestamptz and at < ($2 || '-01')::timestamptz + interval '1 month'
   )
   select log_id as "logId", log_index as index, entry
   from of_month
   join lateral (
     select log_id, log_index, logged.kind, entry, entry::jsonb ->> 'at' as at from billing_log_entries as logged
     where campaign_id in (select campaign_id from campaigns where advertiser_id = $1) and log_id = $3
       and xid >= of_month.since and xid < of_month.up_to
   ) as logged on (logged.kind = 'refund') = (of_month.kind = 'refund') and left(logged.at, 7) = of_month.month
   order by log_index`,
);

/** Where the last batch of a statement's charges and refunds ends in commit order. */
const findEnd = statement<{ upTo: string | null }>(
  "billing-log.end-of-statement",
  `select max(split_part(transaction_id, ' ', 4)::xid8)::text as "upTo" from money_entries
   where account = 'advertiser:' || $1::text and kind in ('charge', 'refund')
     and split_part(transaction_id, ' ', 1) in ('charge', 'refund')
     and at >= ($2 || '-01')::timestamptz and at < ($2 || '-01')::timestamptz + interval '1 month'`,
);

/** What is proved about a statement. */
export interface StatementOfProof {
  number: number;
  advertiserId: string;
  month: string;
  currency: string;
  chargesMicros: bigint;
  refundsMicros: bigint;
}

/** `not-yet`: the tree does not include all of the statement's entries. */
type StatementEntries = { outcome: "found"; entries: PlacedEntry[] } | { outcome: "not-yet" };

/** The entries of a statement in the order of the log, if a tree of `size` entries includes all of them. */
export async function entriesOfStatement(
  database: Pick<Transaction, "run">,
  { log, of, size }: { log: BillingLog; of: StatementOfProof; size: number },
): Promise<StatementEntries> {
  const [{ upTo = null } = {}] = await database.run(findEnd, [of.advertiserId, of.month]);
  if (upTo !== null && BigInt(log.xid) < BigInt(upTo)) return { outcome: "not-yet" };
  const entries = await database.run(findEntries, [of.advertiserId, of.month, log.logId]);
  return entries.every(({ index }) => index < size) ? { outcome: "found", entries } : { outcome: "not-yet" };
}

/**
 * A file that `verify.mjs` reads: the statement's sums, the checkpoint, the entries with their places, and the hashes of all
 * that is beside them, from left to right.
 */
export async function proveStatement(
  database: Database,
  { log, of }: { log: BillingLog; of: StatementOfProof },
): Promise<{ outcome: "proved"; file: string } | { outcome: "not-yet" }> {
  const { checkpoint, publishedSize, logId } = log;
  const found = await entriesOfStatement(database, { log, of, size: publishedSize });
  if (checkpoint === null || found.outcome === "not-yet") return { outcome: "not-yet" };
  const { entries } = found;
  const ranges = rangesBeside(
    entries.map(({ index }) => index),
    publishedSize,
  );
  const hashes = await hashesOfRanges(database, logId, ranges);
  const file = {
    format: "intermission/statement-proof@1",
    statement: { ...of, chargesMicros: String(of.chargesMicros), refundsMicros: String(of.refundsMicros) },
    checkpoint,
    entries: entries.map(({ index, entry }) => ({ index, entry })),
    hashes: hashes.map((hash) => Buffer.from(hash).toString("base64")),
  };
  return { outcome: "proved", file: `${JSON.stringify(file, null, 1)}\n` };
}
