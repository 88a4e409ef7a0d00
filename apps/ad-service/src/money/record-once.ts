import { type Author, audit, openChange } from "@intermission/postgres/audit";
import type { Database, Transaction } from "@intermission/postgres/open-database";
import {
  type Account,
  areOf,
  entriesIn,
  findByReference,
  lockAccount,
  type MoneyTransaction,
  recordTransaction,
} from "./ledger.ts";

export type RecordOnceOutcome =
  | { outcome: "recorded" }
  /** The same transaction, by an earlier request. */
  | { outcome: "recorded-before" }
  /** Its id is that of a transaction with other values. */
  | { outcome: "other-values" }
  /** Another transaction of the account and kind has this reference, as people read it. */
  | { outcome: "reference-known"; transactionId: string };

export interface Recorded {
  made: MoneyTransaction;
  /** Whose account it changes. */
  account: Account;
  /** It is not recorded if its reference stands on one of these. A provider may report several payments of one invoice. */
  asksAbout: "every-payment" | "payments-by-hand" | "nothing";
}

/** Records what a person reports about the money of an object, once for its id, on any number of nodes. */
export function recordOnce(
  database: Pick<Database, "transaction">,
  { objectId, author, ...of }: Recorded & { objectId: string; author: Author | undefined },
): Promise<RecordOnceOutcome> {
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, objectId);
    const recorded = await recordOnceIn(tx, of);
    if (recorded.outcome === "recorded") await audit(tx, change);
    return recorded;
  });
}

/** Records what a person or a payment provider reports, as a part of a transaction. */
export async function recordOnceIn(
  tx: Transaction,
  { made, account, asksAbout }: Recorded,
): Promise<RecordOnceOutcome> {
  const { transactionId, kind, reference } = made;
  await lockAccount(tx, account);
  const before = await outcomeOfRepeat(tx, made);
  if (before !== undefined) return before;
  if (reference !== undefined && asksAbout !== "nothing") {
    const isByHand = asksAbout === "payments-by-hand";
    const known = await findByReference(tx, { account, kind, reference, isByHand });
    if (known !== undefined) return { outcome: "reference-known", transactionId: known };
  }
  if ((await recordTransaction(tx, made)) === "recorded") return { outcome: "recorded" };
  // Under the same id, but for another account.
  return (await outcomeOfRepeat(tx, made)) ?? Promise.reject(new Error(`${transactionId} vanished from the ledger`));
}

async function outcomeOfRepeat(
  tx: Transaction,
  made: MoneyTransaction,
): Promise<Extract<RecordOnceOutcome, { outcome: "recorded-before" | "other-values" }> | undefined> {
  const recorded = await entriesIn(tx, made.transactionId);
  if (recorded.length === 0) return undefined;
  return { outcome: areOf(made, recorded) ? "recorded-before" : "other-values" };
}
