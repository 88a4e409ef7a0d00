import { type Runner, type Statement, statement } from "@intermission/postgres/open-database";
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

const conditions = {
  all: "true",
  booked: "amount > 0",
  refused: "amount = 0",
  unmatched: "unmatched_reason is not null",
  invalid: "invalid_reason is not null",
  duplicate: "duplicates > 0",
  event: "invalid_reason is null",
};

// The ledger knows which events are a user's; it lacks those of two fields that matched nothing. (Not said of them here: a
// plan that is made on empty tables would take the index of all that match nothing.)
const receiptsOf = {
  everybody: "(select * from receipts where bot_id = $1) receipt",
  user: `(
  select bot_id, event_id from ledger_entries where bot_id = $1 and user_id = $4 and event_id is not null
  union
  select bot_id, event_id from receipts where bot_id = $1 and user_id = $4 and is_two_field
) mine join receipts receipt using (bot_id, event_id)`,
};

/** A statement for each condition: its plan is kept, and must not stand for other conditions than its own. */
function newest(whose: keyof typeof receiptsOf, chosen: keyof typeof conditions): Statement<Row> {
  return statement(
    `list-receipts-${whose}-${chosen}`,
    `select ${columns} from ${receiptsOf[whose]} left join ledger_entries using (bot_id, event_id)
where ${conditions[chosen]} and received_at >= coalesce($2::timestamptz, '-infinity')
order by received_at desc, event_id desc limit $3`,
  );
}

/** Receipts newest first, and what each of them did to the ledger. */
export async function listReceipts(
  runner: Pick<Runner<unknown>, "run">,
  botId: string,
  { outcome, userId, since, limit }: ReceiptQuery,
): Promise<Receipt[]> {
  const values = [botId, since ?? null, limit];
  const chosen = outcome ?? "all";
  const rows =
    userId === undefined
      ? await runner.run(newest("everybody", chosen), values)
      : await runner.run(newest("user", chosen), [...values, userId]);
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
