import { randomInt } from "node:crypto";
import { type Database, type Statement, statement } from "@intermission/postgres/open-database";
import type { UserErasure } from "../verbs.ts";

interface Step {
  table: string;
  becomes: string;
  /** $1 bot id, $2 user id. */
  where: string;
  /** $3 is the pseudonym. Without `set` the rows are deleted. */
  set?: string;
}

const ofUser = "bot_id = $1 and user_id = $2";

/** A test compares them with the tables of the database. */
export const steps: readonly Step[] = [
  {
    table: "receipts",
    becomes: "kept under a pseudonym, without the bytes that came",
    where: ofUser,
    // Not null: otherwise the bytes of a repeat would be kept. An unmatched event's id derives from the user's id.
    set: `user_id = $3, raw_body = '', signature = '',
      event_id = case when unmatched_reason is null then event_id else 'unmatched:erased:' || gen_random_uuid() end`,
  },
  {
    table: "receipts",
    becomes: "kept without the bytes, which were no event and named the user",
    where: "bot_id = $1 and invalid_reason is not null and raw_body ~ ('(^|[^0-9])' || $2 || '([^0-9]|$)')",
    set: "raw_body = '', signature = '', invalid_reason = 'erased'",
  },
  {
    table: "codes",
    becomes: "kept under a pseudonym, expired, without the reference",
    where: ofUser,
    set: "user_id = $3, reference = null, expires_at = case when expires_at > now() then now() else expires_at end",
  },
  { table: "daily_rewards", becomes: "deleted", where: ofUser },
  { table: "balances", becomes: "kept under a pseudonym", where: ofUser, set: "user_id = $3" },
  {
    table: "ledger_entries",
    becomes: "kept under a pseudonym, without reference, startapp value, idempotency key and the bytes that came",
    where: ofUser,
    // Not null for an event: otherwise the bytes of a repeat would be kept.
    set: `user_id = $3, reference = null, start_param = null, raw_body = case when event is not null then '' end,
      signature = case when event is not null then ''::bytea end,
      idempotency_key = case when idempotency_key is not null then 'erased-' || gen_random_uuid() end`,
  },
];

/** Unnamed, so planned each time: erasures are rare, and search tables that have no index by user. */
const planned = (text: string): Statement<{ rows: number }> => ({ name: "", text });
const counts = steps.map(({ table, where }) => planned(`select count(*) as rows from ${table} where ${where}`));
const changes = steps.map(({ table, where, set }) => {
  const change = set === undefined ? `delete from ${table}` : `update ${table} set ${set}`;
  return planned(`with changed as (${change} where ${where} returning 1) select count(*) as rows from changed`);
});
const allowErasing = statement("users.allow-erasing", "select set_config('intermission.erasing', 'on', true)");
// As recordings and spends do, which write the balance's row: none of this user runs between the first step and the last.
const lockBalance = statement(
  "users.lock-balance",
  "select from balances where bot_id = $1 and user_id = $2 for update",
);

/**
 * Erases a user from a bot's records, or with `isMeant` false only counts. The ledger and the balance stay under a
 * random number that identifies no user, so that every sum is unchanged. A repeat finds nothing.
 */
export async function eraseUser(
  database: Database,
  { botId, userId, isMeant }: { botId: string; userId: string; isMeant: boolean },
): Promise<UserErasure> {
  const pseudonym = newPseudonym();
  return database.transaction(async (tx) => {
    await tx.run(lockBalance, [botId, userId]);
    await tx.run(allowErasing, []);
    const tables: UserErasure["tables"] = [];
    for (const [index, { table, becomes, set }] of steps.entries()) {
      const step = (isMeant ? changes : counts)[index];
      if (step === undefined) throw new Error(`there is no statement for ${table}`);
      const isNamed = isMeant && set?.includes("$3");
      const [row] = await tx.run(step, isNamed ? [botId, userId, pseudonym] : [botId, userId]);
      if (row && row.rows > 0) tables.push({ table, becomes, rows: row.rows });
    }
    return { botId, userId, isErased: isMeant, tables };
  });
}

/** All digits, as ids are everywhere, and longer than any id that Telegram issues. */
function newPseudonym(): string {
  return `9${Array.from({ length: 19 }, () => randomInt(10)).join("")}`;
}
