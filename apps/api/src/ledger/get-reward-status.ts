import { type Runner, statement } from "@intermission/postgres/open-database";
import { getBalance } from "./get-balance.ts";
import { type EntryRow, entryColumns } from "./rows.ts";
import type { RefusalReason, RewardStatus } from "./schema.ts";

export interface StatusQuery {
  userId: string | undefined;
  code: string | undefined;
  event: "rewarded" | "direct_link" | undefined;
}

type EventRow = EntryRow & { event: "rewarded" | "direct_link"; reason: RefusalReason | null };

// A code's paid event takes precedence over its refused ones.
const entryOfCode = statement<EventRow>(
  "status-by-code",
  `select ${entryColumns} from ledger_entries
where bot_id = $1 and code = $2 and ($3::text is null or user_id = $3) and ($4::text is null or event = $4)
order by amount = 0, xid, entry_id limit 1`,
);

const newestEventOfUser = statement<EventRow>(
  "status-by-user",
  `select ${entryColumns} from ledger_entries
where bot_id = $1 and user_id = $2 and event is not null and ($3::text is null or event = $3)
order by xid desc, entry_id desc limit 1`,
);

/** The outcome of a code, or of the user's newest event if no code is given. */
export async function getRewardStatus(
  runner: Pick<Runner<unknown>, "run">,
  botId: string,
  { userId, code, event }: StatusQuery,
): Promise<RewardStatus> {
  const [entry] =
    code === undefined
      ? await runner.run(newestEventOfUser, [botId, userId, event ?? null])
      : await runner.run(entryOfCode, [botId, code, userId ?? null, event ?? null]);
  if (!entry) return { outcome: "not-yet" };
  const balance = await getBalance(runner, botId, entry.user_id);
  const recordedAt = entry.recorded_at.toISOString();
  if (entry.reason !== null) return { outcome: "refused", reason: entry.reason, amount: 0, balance, recordedAt };
  return { outcome: "credited", amount: entry.amount, balance, event: entry.event, recordedAt };
}
