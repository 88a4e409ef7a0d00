import { randomInt } from "node:crypto";
import { type Statement, statement } from "@intermission/postgres/open-database";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { steps } from "./erasure-steps.ts";

export interface ErasedRows {
  table: string;
  /** The outcome for the rows, as text for the operator. */
  becomes: string;
  rows: number;
}

export type EraseUserOutcome =
  /** `undelivered`: webhooks that were cancelled, or would be. */
  | { outcome: "counted" | "erased"; tables: ErasedRows[]; undelivered: number }
  /** A webhook of this user is being sent now: it cannot be cancelled, and its answer must be recorded. */
  | { outcome: "being-sent" };

const lockViewer = statement(
  "users.lock-viewer",
  "select pg_advisory_xact_lock(hashtextextended('viewer:' || $1::text || ':' || $2::text, 0))",
);
const lockDeliveries: Statement<{ state: string }> = {
  name: "",
  text: `select deliveries.state from deliveries join events using (bot_id, event_id)
   where bot_id = $1 and user_id = $2 order by event_id for update of deliveries`,
};

/** Unnamed, so planned each time: these rare statements search tables that have no index by user. */
const planned = (text: string): Statement<{ rows: number }> => ({ name: "", text });
const counts = steps.map(({ table, where }) => planned(`select count(*) as rows from ${table} where ${where}`));
const changes = steps.map(({ table, where, set }) => {
  const change = set === undefined ? `delete from ${table}` : `update ${table} set ${set}`;
  return planned(`with changed as (${change} where ${where} returning 1) select count(*) as rows from changed`);
});

/**
 * Removes a person from a bot's records, or with `isMeant` false only counts. Rows that statistics and sums are derived from
 * stay under a random number that identifies no user; everything else about the person is deleted. Repeating it finds nothing.
 *
 * Undelivered webhooks are cancelled: they would send the user's id to the publisher, which the person no longer wants.
 * Deliver events that must be paid first.
 */
export async function eraseUser(
  database: AdDatabase,
  { botId, userId, isMeant }: { botId: string; userId: string; isMeant: boolean },
): Promise<EraseUserOutcome> {
  return database.transaction(async (tx) => {
    // Prevents that a view is opened or a link counted between the first statement and the last.
    await tx.run(lockViewer, [botId, userId]);
    const deliveries = await tx.run(lockDeliveries, [botId, userId]);
    if (isMeant && deliveries.some(({ state }) => state === "sending")) return { outcome: "being-sent" };
    const undelivered = deliveries.filter(
      ({ state }) => state === "waiting" || state === "held" || state === "sending",
    ).length;
    const tables = await runSteps(tx, isMeant ? changes : counts, { botId, userId, isMeant });
    return { outcome: isMeant ? "erased" : "counted", tables, undelivered };
  });
}

async function runSteps(
  tx: AdTransaction,
  statements: readonly Statement<{ rows: number }>[],
  { botId, userId, isMeant }: { botId: string; userId: string; isMeant: boolean },
): Promise<ErasedRows[]> {
  const pseudonym = newPseudonym();
  const found: ErasedRows[] = [];
  for (const [index, { table, becomes, set }] of steps.entries()) {
    const step = statements[index];
    if (step === undefined) throw new Error(`there is no statement for ${table}`);
    const isNamed = isMeant && set?.includes("$3");
    const [row] = await tx.run(step, isNamed ? [botId, userId, pseudonym] : [botId, userId]);
    if (row && row.rows > 0) found.push({ table, becomes, rows: row.rows });
  }
  return found;
}

/** Has the form of an id, since ids are digits everywhere, and is longer than any id that Telegram assigns. */
export function newPseudonym(): string {
  return `9${Array.from({ length: 19 }, () => randomInt(10)).join("")}`;
}
