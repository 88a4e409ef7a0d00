import { type Runner, statement } from "@intermission/postgres/open-database";
import type { Receipt } from "./schema.ts";

interface Row {
  received_at: Date;
  event: "rewarded" | "direct_link";
  event_id: string;
  raw_body: string | null;
  signature_header: string | null;
  unmatched_reason: string | null;
  amount: number | null;
  reason: string | null;
}

const newest = statement<Row>(
  "latest-receipts",
  `select received_at, receipt.event, receipt.event_id, raw_body, signature_header, unmatched_reason, amount, reason
from receipts receipt left join ledger_entries entry using (bot_id, event_id)
where receipt.bot_id = $1 order by received_at desc, receipt.event_id desc limit $2`,
);

/** The receipts that came last, newest first, and what each of them did to the ledger. */
export async function latestReceipts(
  runner: Pick<Runner<unknown>, "run">,
  botId: string,
  limit: number,
): Promise<Receipt[]> {
  const rows = await runner.run(newest, [botId, limit]);
  return rows.map((row) => ({
    receivedAt: row.received_at.toISOString(),
    outcome: row.amount === null ? "unmatched" : row.amount > 0 ? "booked" : "refused",
    reason: row.unmatched_reason ?? row.reason,
    event: row.event,
    eventId: row.event_id,
    rawBody: row.raw_body,
    signatureHeader: row.signature_header,
    verified: true,
  }));
}
