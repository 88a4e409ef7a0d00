import { type Runner, type Statement, statement } from "@intermission/postgres/open-database";
import type { Receipt, ReceiptQuery, RefusalCount } from "../verbs.ts";

interface Row {
  received_at: Date;
  event: "rewarded" | "direct_link" | null;
  event_id: string;
  user_id: string | null;
  code: string | null;
  amount: number | null;
  revenue_micros: number | null;
  currency: string | null;
  reason: string | null;
  is_invalid: boolean;
  duplicates: number;
  last_duplicate_at: Date | null;
  raw_body: string | null;
  signature: Buffer | null;
}

type Chosen = NonNullable<ReceiptQuery["outcome"]> | "all";

/** The condition for the ledger's entries; without one, no entry is listed. */
const chosenEntries: Partial<Record<Chosen, string>> = {
  all: "true",
  event: "true",
  credited: "amount > 0",
  refused: "amount = 0",
};
/** The condition for the receipts listed beside them. */
const chosenReceipts: Partial<Record<Chosen, string>> = {
  all: "(unmatched_reason is not null or invalid_reason is not null)",
  event: "unmatched_reason is not null",
  unmatched: "unmatched_reason is not null",
  invalid: "invalid_reason is not null",
  duplicate: "duplicates > 0",
};

/** A plan is kept and must fit one condition, so the receipts of all users and of one user are separate statements. */
const ofUser = (isOfUser: boolean, table: string) => (isOfUser ? `${table}.user_id = $4` : "true");

/**
 * The ledger's events, newest first, read one by one: the recursion reads no further than the limit needs, and ends at
 * `since`. The order of commits may differ from that of time by the duration of a transaction.
 */
function newestEntries(chosen: Chosen, isOfUser: boolean): Statement<Row> | undefined {
  const condition = chosenEntries[chosen];
  if (condition === undefined) return undefined;
  const newestWhere = (place: string) => `select * from ledger_entries as entry
    where entry.bot_id = $1 and ${ofUser(isOfUser, "entry")} and ${place}
    order by entry.xid desc, entry.entry_id desc limit 1`;
  return statement(
    `list-receipts-entries-${chosen}-${isOfUser}`,
    `with recursive entry as (
  (${newestWhere("true")})
  union all
  select earlier.* from entry as later cross join lateral (
    ${newestWhere("(entry.xid, entry.entry_id) < (later.xid, later.entry_id)")}
  ) as earlier
  where later.recorded_at >= $2::timestamptz - interval '1 minute'
)
select recorded_at as received_at, entry.event, entry.event_id, entry.user_id, code, amount, revenue_micros, currency, reason, false as is_invalid,
  coalesce(duplicates, 0) as duplicates, last_duplicate_at, coalesce(entry.raw_body, receipt.raw_body) as raw_body,
  coalesce(entry.signature, receipt.signature) as signature
from entry left join lateral (
  select * from receipts where receipts.bot_id = $1 and receipts.event_id = entry.event_id limit 1
) as receipt on true
where entry.event is not null and recorded_at >= $2 and ${condition} limit $3`,
  );
}

/** Webhooks that are not in the ledger; and repeats of those that are. */
function newestReceipts(chosen: Chosen, isOfUser: boolean): Statement<Row> | undefined {
  const condition = chosenReceipts[chosen];
  if (condition === undefined) return undefined;
  return statement(
    `list-receipts-${chosen}-${isOfUser}`,
    `select coalesce(recorded_at, received_at) as received_at, receipt.event, receipt.event_id, receipt.user_id, code, amount,
  revenue_micros, currency,
  coalesce(invalid_reason, unmatched_reason, reason) as reason, invalid_reason is not null as is_invalid,
  duplicates, last_duplicate_at, coalesce(entry.raw_body, receipt.raw_body) as raw_body,
  coalesce(entry.signature, receipt.signature) as signature
from receipts as receipt left join lateral (
  select * from ledger_entries where ledger_entries.bot_id = $1 and ledger_entries.event_id = receipt.event_id limit 1
) as entry on true
where receipt.bot_id = $1 and ${ofUser(isOfUser, "receipt")} and received_at >= $2 and ${condition}
order by receipt.received_at desc, receipt.event_id desc limit $3`,
  );
}

/** Receipts, newest first, and the effect of each on the ledger. */
export async function listReceipts(
  runner: Pick<Runner, "run">,
  botId: string,
  { outcome, userId, since, limit }: ReceiptQuery,
): Promise<Receipt[]> {
  const values = [botId, since ?? "-infinity", limit, ...(userId === undefined ? [] : [userId])];
  const found: Row[] = [];
  for (const newest of [newestEntries, newestReceipts]) {
    const chosen = newest(outcome ?? "all", userId !== undefined);
    if (chosen) found.push(...(await runner.run(chosen, values)));
  }
  found.sort((a, b) => b.received_at.getTime() - a.received_at.getTime() || (a.event_id < b.event_id ? 1 : -1));
  return found.slice(0, limit).map(receiptOf);
}

function receiptOf(row: Row): Receipt {
  return {
    receivedAt: row.received_at.toISOString(),
    outcome: outcomeOf(row),
    reason: row.reason,
    event: row.event,
    eventId: row.event_id,
    userId: row.user_id,
    code: row.code,
    amount: row.amount,
    revenueMicros: row.revenue_micros,
    currency: row.currency,
    duplicates: row.duplicates,
    lastDuplicateAt: row.last_duplicate_at?.toISOString() ?? null,
    rawBody: row.raw_body,
    signatureHeader: row.signature && headerOf(row.signature),
    verified: true,
  };
}

/** An erasure leaves nothing of it. */
function headerOf(signature: Buffer): string {
  return signature.length === 0 ? "" : `sha256=${signature.toString("hex")}`;
}

function outcomeOf({ is_invalid, amount }: Row): Receipt["outcome"] {
  if (is_invalid) return "invalid";
  if (amount === null) return "unmatched";
  return amount > 0 ? "credited" : "refused";
}

const counted = statement<{ hour: Date; reason: string; refused: number; last_at: Date }>(
  "list-refusals",
  `select hour, reason, refused, last_at from refused_webhooks where bot_id = $1 and hour >= date_trunc('hour', $2::timestamptz)
order by hour desc, reason limit 10000`,
);

/** The number of webhooks refused before their signature was verified, by hour and reason, newest first. Kept for 30 days. */
export async function listRefusals(runner: Pick<Runner, "run">, botId: string, since: Date): Promise<RefusalCount[]> {
  const rows = await runner.run(counted, [botId, since]);
  return rows.map((row) => ({
    hour: row.hour.toISOString(),
    reason: row.reason,
    refused: row.refused,
    lastAt: row.last_at.toISOString(),
  }));
}
