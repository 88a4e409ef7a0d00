import { type Runner, statement } from "@intermission/postgres/open-database";
import type { Receipt, ReceiptQuery } from "./schema.ts";

interface Row {
  received_at: Date;
  event: "rewarded" | "direct_link" | null;
  event_id: string;
  user_id: string | null;
  code: string | null;
  amount: number | null;
  reason: string | null;
  unmatched_reason: string | null;
  invalid_reason: string | null;
  duplicates: number;
  last_duplicate_at: Date | null;
  raw_body: string | null;
  signature_header: string | null;
}

const columns = `received_at, receipt.event, event_id, receipt.user_id, code, amount, reason, unmatched_reason,
  invalid_reason, duplicates, last_duplicate_at, raw_body, signature_header`;

const chosen = `received_at >= coalesce($2::timestamptz, '-infinity') and case coalesce($3::text, 'all')
    when 'booked' then amount > 0
    when 'refused' then amount = 0
    when 'unmatched' then unmatched_reason is not null
    when 'invalid' then invalid_reason is not null
    when 'duplicate' then duplicates > 0
    when 'event' then invalid_reason is null
    else true end
order by received_at desc, event_id desc limit $4`;

const newest = statement<Row>(
  "list-receipts",
  `select ${columns} from receipts receipt left join ledger_entries using (bot_id, event_id)
where bot_id = $1 and ${chosen}`,
);

// The ledger knows which events are a user's; it lacks those of two fields that matched nothing.
const newestOfUser = statement<Row>(
  "list-receipts-of-user",
  `select ${columns} from (
  select bot_id, event_id from ledger_entries where bot_id = $1 and user_id = $5 and event_id is not null
  union all
  select bot_id, event_id from receipts where bot_id = $1 and user_id = $5 and is_two_field and unmatched_reason is not null
) mine join receipts receipt using (bot_id, event_id) left join ledger_entries using (bot_id, event_id)
where ${chosen}`,
);

/** Receipts newest first, and what each of them did to the ledger. */
export async function listReceipts(
  runner: Pick<Runner<unknown>, "run">,
  botId: string,
  { outcome, userId, since, limit }: ReceiptQuery,
): Promise<Receipt[]> {
  const values = [botId, since ?? null, outcome ?? null, limit];
  const rows =
    userId === undefined ? await runner.run(newest, values) : await runner.run(newestOfUser, [...values, userId]);
  return rows.map(receiptOf);
}

function receiptOf(row: Row): Receipt {
  return {
    receivedAt: row.received_at.toISOString(),
    outcome: outcomeOf(row),
    reason: row.invalid_reason ?? row.unmatched_reason ?? row.reason,
    event: row.event,
    eventId: row.event_id,
    userId: row.user_id,
    code: row.code,
    amount: row.amount,
    duplicates: row.duplicates,
    lastDuplicateAt: row.last_duplicate_at?.toISOString() ?? null,
    rawBody: row.raw_body,
    signatureHeader: row.signature_header,
    verified: true,
  };
}

function outcomeOf({ invalid_reason, amount }: Row): Receipt["outcome"] {
  if (invalid_reason !== null) return "invalid";
  if (amount === null) return "unmatched";
  return amount > 0 ? "booked" : "refused";
}
