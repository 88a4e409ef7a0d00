import type { LedgerEventType } from "@intermission/ad-core/event-words";
import { decodeCursor, encodeCursor, epochOf } from "@intermission/postgres/commit-cursor";
import { type Runner, statement } from "@intermission/postgres/open-database";
import { type ColumnsOf, selected } from "@intermission/postgres/row-columns";
import type { RewardEntry, RewardPage } from "@intermission/publisher/companion";
import type { RefusalReason, RewardStatus } from "../verbs.ts";

export interface EntryRow {
  epoch: string;
  xid: string;
  entryId: number;
  userId: string;
  event: LedgerEventType | null;
  code: string | null;
  reference: string | null;
  startParam: string | null;
  eventId: string | null;
  amount: number;
  reason: string | null;
  balance: number | null;
  recordedAt: Date;
}

export const entryColumns = selected({
  epoch: epochOf("ledger_entries.xid"),
  xid: "xid",
  entryId: "entry_id",
  userId: "user_id",
  event: "event",
  code: "code",
  reference: "reference",
  startParam: "start_param",
  eventId: "event_id",
  amount: "amount",
  reason: "reason",
  balance: "balance_after",
  recordedAt: "recorded_at",
} satisfies ColumnsOf<EntryRow>);

export function rewardEntryOf({ epoch: _epoch, xid: _xid, entryId, recordedAt, ...entry }: EntryRow): RewardEntry {
  return { entryId: String(entryId), ...entry, recordedAt: recordedAt.toISOString() };
}

const balanceOf = statement<{ balance: number }>(
  "ledger.balance",
  "select balance from balances where bot_id = $1 and user_id = $2",
);

/** The user's balance; 0 for a user who never earned. */
export async function getBalance(runner: Pick<Runner, "run">, botId: string, userId: string): Promise<number> {
  const [row] = await runner.run(balanceOf, [botId, userId]);
  return row?.balance ?? 0;
}

/** After every entry. An optional condition would keep the plan from starting at the cursor. */
const endOfLedger = { xid: "18446744073709551615", id: "9223372036854775807" };

const pageOfBot = statement<EntryRow>(
  "ledger.list",
  `select ${entryColumns} from ledger_entries
where bot_id = $1 and (xid, entry_id) < ($2::xid8, $3::bigint)
order by xid desc, entry_id desc limit $4`,
);

const pageOfUser = statement<EntryRow>(
  "ledger.list-of-user",
  `select ${entryColumns} from ledger_entries
where bot_id = $1 and user_id = $5 and (xid, entry_id) < ($2::xid8, $3::bigint)
order by xid desc, entry_id desc limit $4`,
);

/** Entries of one user, or of all, newest first. */
export async function listRewards(
  runner: Pick<Runner, "run">,
  botId: string,
  query: { userId: string | undefined; cursor: string | undefined; limit: number },
): Promise<RewardPage> {
  const before = (query.cursor !== undefined && decodeCursor(query.cursor)) || endOfLedger;
  // One extra row shows whether there is a next page.
  const values = [botId, before.xid, before.id, query.limit + 1];
  const rows =
    query.userId === undefined
      ? await runner.run(pageOfBot, values)
      : await runner.run(pageOfUser, [...values, query.userId]);
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  const next =
    last && rows.length > page.length
      ? encodeCursor({ epoch: last.epoch, xid: last.xid, id: String(last.entryId) })
      : null;
  return { entries: page.map(rewardEntryOf), next };
}

export interface StatusQuery {
  userId: string | undefined;
  code: string | undefined;
  event: LedgerEventType | undefined;
}

type EventRow = EntryRow & { event: LedgerEventType; reason: RefusalReason | null };

// A reversal takes precedence over what it takes back, and a code's paid event over its refused ones.
const entryOfCode = statement<EventRow>(
  "ledger.status-of-code",
  `select ${entryColumns} from ledger_entries
where bot_id = $1 and code = $2 and ($3::text is null or user_id = $3) and ($4::text is null or event = $4)
order by amount >= 0, amount = 0, xid, entry_id limit 1`,
);

const newestEventOfUser = statement<EventRow>(
  "ledger.status-of-user",
  `select ${entryColumns} from ledger_entries
where bot_id = $1 and user_id = $2 and event is not null and ($3::text is null or event = $3)
order by xid desc, entry_id desc limit 1`,
);

/** The outcome of a code, or of the user's newest event if no code is given. */
export async function getRewardStatus(
  runner: Pick<Runner, "run">,
  botId: string,
  { userId, code, event }: StatusQuery,
): Promise<RewardStatus> {
  const [entry] =
    code === undefined
      ? await runner.run(newestEventOfUser, [botId, userId, event ?? null])
      : await runner.run(entryOfCode, [botId, code, userId ?? null, event ?? null]);
  if (!entry) return { outcome: "not-yet" };
  const balance = await getBalance(runner, botId, entry.userId);
  const recordedAt = entry.recordedAt.toISOString();
  if (entry.reason !== null) return { outcome: "refused", reason: entry.reason, amount: 0, balance, recordedAt };
  const { amount, event: earned } = entry;
  return { outcome: amount < 0 ? "reversed" : "credited", amount, balance, event: earned, recordedAt };
}
