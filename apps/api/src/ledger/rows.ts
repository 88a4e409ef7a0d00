import { epochOf } from "@intermission/postgres/commit-cursor";
import type { RewardEntry } from "./schema.ts";

export interface EntryRow {
  epoch: string;
  xid: string;
  entry_id: number;
  user_id: string;
  event: "rewarded" | "direct_link" | null;
  code: string | null;
  reference: string | null;
  event_id: string | null;
  amount: number;
  reason: string | null;
  balance_after: number | null;
  recorded_at: Date;
}

export const entryColumns = `${epochOf("ledger_entries.xid")} as epoch, xid, entry_id, user_id, event, code, reference,
  event_id, amount, reason, balance_after, recorded_at`;

export function rewardEntryOf(row: EntryRow): RewardEntry {
  return {
    entryId: String(row.entry_id),
    userId: row.user_id,
    event: row.event,
    code: row.code,
    reference: row.reference,
    eventId: row.event_id,
    amount: row.amount,
    reason: row.reason,
    balance: row.balance_after,
    recordedAt: row.recorded_at.toISOString(),
  };
}
