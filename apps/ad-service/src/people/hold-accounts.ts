import { statement, type Transaction } from "@intermission/postgres/open-database";
import { refusal } from "@intermission/server/refuse";

/** The hash of the session's token of a person who changes another one's account; undefined: the command line. */
export type ChangingSession = Buffer | undefined;

const lock = statement<never>(
  "people.lock-accounts",
  "select pg_advisory_xact_lock(hashtextextended('accounts of people', 0))::text",
);
const find = statement<{ one: number }>(
  "people.find-changing-session",
  "select 1 as one from person_sessions where token_hash = $1",
);

/**
 * Changes of accounts wait for each other. Two owners who disable each other at the same moment would both succeed, and leave no
 * owner: the session of the second one has ended by then, which is refused with 401.
 */
export async function holdAccounts(tx: Transaction, by: ChangingSession): Promise<void> {
  await tx.run(lock, []);
  if (by === undefined || (await tx.run(find, [by])).length > 0) return;
  throw refusal(401, "SIGNED_OUT", "the session has ended: sign in again");
}
