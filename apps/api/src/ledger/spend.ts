import { type Database, statement } from "@intermission/postgres/open-database";
import type { SpendOutcome } from "@intermission/publisher/companion";
import { getBalance } from "./rewards.ts";

export interface SpendOrder {
  userId: string;
  amount: number;
  idempotencyKey: string;
  note: string | null;
}

const lockKey = statement<never>("spend.lock-key", "select pg_advisory_xact_lock(hashtextextended($1, 0))");

const findSpent = statement<{ entryId: number; amount: number; balance: number }>(
  "spend.find",
  `select entry_id as "entryId", amount, balance_after as balance from ledger_entries
where bot_id = $1 and user_id = $2 and idempotency_key = $3`,
);

// The condition is checked on the locked row, so that no order of requests takes a balance below zero.
const takeUnits = statement<{ entryId: number; balance: number }>(
  "spend.take",
  `with taken as (
  update balances set balance = balance - $3::bigint where bot_id = $1 and user_id = $2 and balance >= $3::bigint
  returning balance
)
insert into ledger_entries (bot_id, user_id, amount, reason, idempotency_key, balance_after)
select $1, $2, -$3::bigint, $5, $4, balance from taken
returning entry_id as "entryId", balance_after as balance`,
);

/** Takes units from a user, once per key: a repeat returns the answer of the first call. */
export async function spend(
  database: Pick<Database, "transaction">,
  botId: string,
  { userId, amount, idempotencyKey, note }: SpendOrder,
): Promise<SpendOutcome> {
  return database.transaction(async (tx) => {
    // Of two concurrent calls with one key, the second must see the first one's entry, so it reads only after the first commit.
    await tx.run(lockKey, [JSON.stringify(["spend", botId, userId, idempotencyKey])]);
    const [earlier] = await tx.run(findSpent, [botId, userId, idempotencyKey]);
    if (earlier) {
      if (earlier.amount !== -amount) return { outcome: "conflict" };
      return { outcome: "spent", balance: earlier.balance, entryId: String(earlier.entryId) };
    }
    const [taken] = await tx.run(takeUnits, [botId, userId, amount, idempotencyKey, note]);
    if (taken) return { outcome: "spent", balance: taken.balance, entryId: String(taken.entryId) };
    return { outcome: "insufficient", balance: await getBalance(tx, botId, userId) };
  });
}
