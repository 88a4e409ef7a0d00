import type { Transaction } from "@intermission/postgres/open-database";
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

/** Records what a person or a payment provider reports, as a part of a transaction. */
export async function recordOnceIn(tx: Transaction, of: Recorded): Promise<RecordOnceOutcome> {
  const { made, account } = of;
  await lockAccount(tx, account);
  const before = await outcomeBefore(tx, of);
  if (before !== undefined) return before;
  if ((await recordTransaction(tx, made)) === "recorded") return { outcome: "recorded" };
  // Under the same id, but for another account.
  const repeat = await outcomeOfRepeat(tx, made);
  return repeat ?? Promise.reject(new Error(`${made.transactionId} vanished from the ledger`));
}

/** Why nothing is to be recorded: it was before, or its reference stands on another payment. */
export async function outcomeBefore(
  tx: Transaction,
  { made, account, asksAbout }: Recorded,
): Promise<Exclude<RecordOnceOutcome, { outcome: "recorded" }> | undefined> {
  const { kind, reference } = made;
  const repeat = await outcomeOfRepeat(tx, made);
  if (repeat !== undefined || reference === undefined || asksAbout === "nothing") return repeat;
  const isByHand = asksAbout === "payments-by-hand";
  const known = await findByReference(tx, { account, kind, reference, isByHand });
  return known === undefined ? undefined : { outcome: "reference-known", transactionId: known };
}

async function outcomeOfRepeat(
  tx: Transaction,
  made: MoneyTransaction,
): Promise<Extract<RecordOnceOutcome, { outcome: "recorded-before" | "other-values" }> | undefined> {
  const recorded = await entriesIn(tx, made.transactionId);
  if (recorded.length === 0) return undefined;
  return { outcome: areOf(made, recorded) ? "recorded-before" : "other-values" };
}
