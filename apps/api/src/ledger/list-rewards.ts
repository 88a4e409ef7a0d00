import { decodeCursor, encodeCursor } from "@intermission/postgres/commit-cursor";
import { type Runner, statement } from "@intermission/postgres/open-database";
import { type EntryRow, entryColumns, rewardEntryOf } from "./rows.ts";
import type { RewardPage } from "./schema.ts";

/** After every entry. An optional condition would keep the plan from starting at the cursor. */
const endOfLedger = { xid: "18446744073709551615", id: "9223372036854775807" };

const pageOfBot = statement<EntryRow>(
  "list-rewards",
  `select ${entryColumns} from ledger_entries
where bot_id = $1 and (xid, entry_id) < ($2::xid8, $3::bigint)
order by xid desc, entry_id desc limit $4`,
);

const pageOfUser = statement<EntryRow>(
  "list-rewards-of-user",
  `select ${entryColumns} from ledger_entries
where bot_id = $1 and user_id = $5 and (xid, entry_id) < ($2::xid8, $3::bigint)
order by xid desc, entry_id desc limit $4`,
);

/** Entries of one user, or of all, newest first. */
export async function listRewards(
  runner: Pick<Runner<unknown>, "run">,
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
      ? encodeCursor({ epoch: last.epoch, xid: last.xid, id: String(last.entry_id) })
      : null;
  return { entries: page.map(rewardEntryOf), next };
}
