import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { inclusionRanges, type LeafRange, subtreesBetween } from "./merkle-tree.ts";
import { type BillingLog, findLog, hashesOfRanges } from "./read-log.ts";
import { proofText } from "./signed-note.ts";

/** An entry with its place in the log. */
export interface PlacedEntry {
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
 * Where the entries of a statement are: those of its charges and refunds. The id of a charge names its advertiser, its month and
 * the position up to which its batch was settled (money/settle-charges.ts), and an entry has the position of its row; so an
 * entry belongs to the first charge of its kind and month that ends behind it. Batches that follow each other are one range.
 */
const findRanges = statement<{ kind: string; month: string; since: string; upTo: string }>(
  "billing-log.ranges-of-statement",
  `with settled as (
     select entered.kind, at, split_part(transaction_id, ' ', 3) as month, split_part(transaction_id, ' ', 4)::xid8 as up_to
     from money_entries as entered where account = 'advertiser:' || $1::text and entered.kind in ('charge', 'refund')
       and split_part(transaction_id, ' ', 1) in ('charge', 'refund')
   ),
   batches as (
     select kind, month, up_to, at, coalesce(lag(up_to) over batch, '0') as since, row_number() over batch as place
     from settled window batch as (partition by kind, month order by up_to)
   ),
   of_month as (
     select kind, month, since, up_to, place - row_number() over (partition by kind, month order by up_to) as run
     from batches
     where at >= ($2 || '-01')::timestamptz and at < ($2 || '-01')::timestamptz + interval '1 month'
   )
   select kind, month, min(since)::text as since, max(up_to)::text as "upTo" from of_month group by kind, month, run`,
);

/** The first and the last entry of an advertiser between two positions, of all months. */
const findSpan = statement<{ first: number | null; last: number | null }>(
  "billing-log.span-of-advertiser",
  `select min(first.log_index) as first, max(last.log_index) as last
   from campaigns
   left join lateral (
     select log_index from billing_log_entries where campaign_id = campaigns.campaign_id and log_id = $2
       and xid >= $3::xid8 and xid < $4::xid8 order by xid, log_index limit 1
   ) as first on true
   left join lateral (
     select log_index from billing_log_entries where campaign_id = campaigns.campaign_id and log_id = $2
       and xid >= $3::xid8 and xid < $4::xid8 order by xid desc, log_index desc limit 1
   ) as last on true
   where advertiser_id = $1`,
);

// Entries are in the order of their positions, so those of the window's ends bound what the index of campaigns reads.
const findEntries = statement<PlacedEntry>(
  "billing-log.entries-of-statement",
  `select log_id as "logId", log_index as index, entry
   from unnest($3::text[], $4::text[], $5::xid8[], $6::xid8[]) as settled (kind, month, since, up_to)
   cross join campaigns
   join lateral (
     select log_id, log_index, logged.kind, entry, entry::jsonb ->> 'at' as at from billing_log_entries as logged
     where logged.campaign_id = campaigns.campaign_id and log_id = $2
       and xid >= settled.since and xid < settled.up_to and log_index + 0 >= $7 and log_index + 0 <= $8
       and xid >= (select first.xid from billing_log_entries as first where first.log_id = $2 and first.log_index = $7)
       and xid <= (select last.xid from billing_log_entries as last where last.log_id = $2 and last.log_index = $8)
     offset 0
   ) as logged on (logged.kind = 'refund') = (settled.kind = 'refund') and left(logged.at, 7) = settled.month
   where advertiser_id = $1
   order by log_index`,
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

/** The entries of a statement in parts, in the order of the log; each call reads them anew. */
export type PlacedEntries = () => AsyncIterable<readonly PlacedEntry[]>;

/** Places of the log that are read at once: at most 6 MB of entries. */
const WINDOW = 16_384;

/** `not-yet`: the tree does not include all of the statement's entries. */
type StatementEntries = { outcome: "found"; entries: PlacedEntries } | { outcome: "not-yet" };

/** The entries of a statement, if a tree of `size` entries includes all of them. No more of them than a window are in memory. */
export async function entriesOfStatement(
  database: Pick<Transaction, "run">,
  { log, of, size, window = WINDOW }: { log: BillingLog; of: StatementOfProof; size: number; window?: number },
): Promise<StatementEntries> {
  const ranges = await database.run(findRanges, [of.advertiserId, of.month]);
  if (ranges.some(({ upTo }) => BigInt(log.xid) < BigInt(upTo))) return { outcome: "not-yet" };
  const positions = ranges.flatMap(({ since, upTo }) => [BigInt(since), BigInt(upTo)]).sort((a, b) => (a < b ? -1 : 1));
  const [earliest = 0n, latest = 0n] = [positions[0], positions.at(-1)];
  const bounds = [of.advertiserId, log.logId, String(earliest), String(latest)];
  const [{ first, last } = { first: null, last: null }] = await database.run(findSpan, bounds);
  if (first === null || last === null) return { outcome: "found", entries: async function* () {} };
  const columns = (["kind", "month", "since", "upTo"] as const).map((name) => ranges.map((range) => range[name]));
  const read = (from: number, to: number) =>
    database.run(findEntries, [of.advertiserId, log.logId, ...columns, from, to]);
  // Entries of other months may follow the last one of the statement.
  for (let to = last, isFound = false; to >= size && !isFound; to -= window) {
    const newest = (await read(Math.max(first, to - window + 1), to)).at(-1);
    if (newest !== undefined && newest.index >= size) return { outcome: "not-yet" };
    isFound = newest !== undefined;
  }
  return {
    outcome: "found",
    async *entries() {
      for (let from = first; from <= last; from += window) yield await read(from, Math.min(last, from + window - 1));
    },
  };
}

/**
 * A file that `verify.mjs` reads: the statement's sums, the checkpoint, the entries with their places, and the hashes of all
 * that is beside them, from left to right.
 */
export async function proveStatement(
  database: Database,
  { log, of, window }: { log: BillingLog; of: StatementOfProof; window?: number },
): Promise<{ outcome: "proved"; file: AsyncIterable<string> } | { outcome: "not-yet" }> {
  const { checkpoint, publishedSize: size, logId } = log;
  const found = await entriesOfStatement(database, { log, of, size, ...(window !== undefined && { window }) });
  if (checkpoint === null || found.outcome === "not-yet") return { outcome: "not-yet" };
  const stated = { ...of, chargesMicros: String(of.chargesMicros), refundsMicros: String(of.refundsMicros) };
  const file = proofFile(database, { stated, checkpoint, size, logId, entries: found.entries });
  return { outcome: "proved", file };
}

/** The text of a proof, in parts: entries are read twice, since the hashes come after all of them. */
export async function* proofFile(
  database: Pick<Transaction, "run">,
  of: { stated: object; checkpoint: string; size: number; logId: number; entries: PlacedEntries },
): AsyncGenerator<string> {
  const head = { format: "intermission/statement-proof@1", statement: of.stated, checkpoint: of.checkpoint };
  yield `${JSON.stringify(head, null, 1).slice(0, -2)},\n "entries": [`;
  let comma = "";
  for await (const placed of of.entries()) {
    const lines = placed.map(({ index, entry }) => JSON.stringify({ index, entry }));
    if (lines.length > 0) yield `${comma}\n  ${lines.join(",\n  ")}`;
    if (lines.length > 0) comma = ",";
  }
  yield `\n ],\n "hashes": [`;
  comma = "";
  for await (const ranges of rangesBeside(of.entries(), of.size)) {
    const hashes = await hashesOfRanges(database, of.logId, ranges);
    const lines = hashes.map((hash) => JSON.stringify(Buffer.from(hash).toString("base64")));
    if (lines.length > 0) yield `${comma}\n  ${lines.join(",\n  ")}`;
    if (lines.length > 0) comma = ",";
  }
  yield "\n ]\n}\n";
}

/** The largest subtrees that contain none of the entries, in parts. */
async function* rangesBeside(
  entries: AsyncIterable<readonly PlacedEntry[]>,
  size: number,
): AsyncGenerator<LeafRange[]> {
  let from = 0;
  for await (const placed of entries) {
    const ranges: LeafRange[] = [];
    for (const { index } of placed) {
      ranges.push(...subtreesBetween({ from, to: index }, size));
      from = index + 1;
    }
    yield ranges;
  }
  yield subtreesBetween({ from, to: size }, size);
}
