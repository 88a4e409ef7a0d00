import type { LedgerEventType } from "@intermission/ad-core/event-words";
import { type Runner, type Statement, statement } from "@intermission/postgres/open-database";
import { type ColumnsOf, selected } from "@intermission/postgres/row-columns";
import type { Receipt, ReceiptQuery, RefusalCount } from "../verbs.ts";

interface Row {
  receivedAt: Date;
  event: LedgerEventType | null;
  eventId: string;
  userId: string | null;
  code: string | null;
  amount: number | null;
  revenueMicros: number | null;
  currency: string | null;
  reason: string | null;
  isInvalid: boolean;
  duplicates: number;
  lastDuplicateAt: Date | null;
  rawBody: string | null;
  signature: Buffer | null;
}

function columnsOf(
  table: "entry" | "receipt",
  own: ColumnsOf<Pick<Row, "receivedAt" | "reason" | "isInvalid" | "duplicates">>,
): string {
  return selected({
    event: `${table}.event`,
    eventId: `${table}.event_id`,
    userId: `${table}.user_id`,
    code: "code",
    amount: "amount",
    revenueMicros: "revenue_micros",
    currency: "currency",
    lastDuplicateAt: "last_duplicate_at",
    rawBody: "coalesce(entry.raw_body, receipt.raw_body)",
    signature: "coalesce(entry.signature, receipt.signature)",
    ...own,
  } satisfies ColumnsOf<Row>);
}

type Chosen = NonNullable<ReceiptQuery["outcome"]> | "all";

/** The condition for the ledger's entries; without one, no entry is listed. */
const chosenEntries: Record<Chosen, string | undefined> = {
  all: "true",
  event: "true",
  credited: "amount > 0",
  reversed: "amount < 0",
  refused: "amount = 0",
  unmatched: undefined,
  invalid: undefined,
  duplicate: undefined,
};
/** The condition for the receipts listed beside them. */
const chosenReceipts: Record<Chosen, string | undefined> = {
  all: "(unmatched_reason is not null or invalid_reason is not null)",
  event: "unmatched_reason is not null",
  credited: undefined,
  reversed: undefined,
  refused: undefined,
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
    `receipts.list-entries-${chosen}-${isOfUser}`,
    `with recursive entry as (
  (${newestWhere("true")})
  union all
  select earlier.* from entry as later cross join lateral (
    ${newestWhere("(entry.xid, entry.entry_id) < (later.xid, later.entry_id)")}
  ) as earlier
  where later.recorded_at >= $2::timestamptz - interval '1 minute'
)
select ${columnsOf("entry", { receivedAt: "recorded_at", reason: "reason", isInvalid: "false", duplicates: "coalesce(duplicates, 0)" })}
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
    `receipts.list-${chosen}-${isOfUser}`,
    `select ${columnsOf("receipt", {
      receivedAt: "coalesce(recorded_at, received_at)",
      reason: "coalesce(invalid_reason, unmatched_reason, reason)",
      isInvalid: "invalid_reason is not null",
      duplicates: "duplicates",
    })}
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
  found.sort((a, b) => b.receivedAt.getTime() - a.receivedAt.getTime() || (a.eventId < b.eventId ? 1 : -1));
  return found.slice(0, limit).map(receiptOf);
}

function receiptOf(row: Row): Receipt {
  return {
    receivedAt: row.receivedAt.toISOString(),
    outcome: outcomeOf(row),
    reason: row.reason,
    event: row.event,
    eventId: row.eventId,
    userId: row.userId,
    code: row.code,
    amount: row.amount,
    revenueMicros: row.revenueMicros,
    currency: row.currency,
    duplicates: row.duplicates,
    lastDuplicateAt: row.lastDuplicateAt?.toISOString() ?? null,
    rawBody: row.rawBody,
    signatureHeader: row.signature && headerOf(row.signature),
    verified: true,
  };
}

/** An erasure leaves nothing of it. */
function headerOf(signature: Buffer): string {
  return signature.length === 0 ? "" : `sha256=${signature.toString("hex")}`;
}

function outcomeOf({ isInvalid, amount }: Row): Receipt["outcome"] {
  if (isInvalid) return "invalid";
  if (amount === null) return "unmatched";
  if (amount < 0) return "reversed";
  return amount > 0 ? "credited" : "refused";
}

const counted = statement<{ hour: Date; reason: string; refused: number; lastAt: Date }>(
  "receipts.list-refusals",
  `select hour, reason, refused, last_at as "lastAt" from refused_webhooks where bot_id = $1 and hour >= date_trunc('hour', $2::timestamptz)
order by hour desc, reason limit 10000`,
);

/** The number of webhooks refused before their signature was verified, by hour and reason, newest first. Kept for 30 days. */
export async function listRefusals(runner: Pick<Runner, "run">, botId: string, since: Date): Promise<RefusalCount[]> {
  const rows = await runner.run(counted, [botId, since]);
  return rows.map((row) => ({
    hour: row.hour.toISOString(),
    reason: row.reason,
    refused: row.refused,
    lastAt: row.lastAt.toISOString(),
  }));
}
