import { randomBytes } from "node:crypto";
import type { MoneyEntry } from "@intermission/operator-api/money-fields";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import bs58 from "bs58";
import { referenceKey } from "./reference-key.ts";

/** Why money moved. Charges and refunds come from priced events alone, the others from people and payment providers. */
type EntryKind = MoneyEntry["kind"];

/** `cash`: what was received and paid out. `revenue`: what the operator earned. */
export type Account = "cash" | "revenue" | `advertiser:${string}` | `publisher:${string}`;

/** What an account gets; negative: what it gives. */
export interface Entry {
  readonly account: Account;
  readonly amountMicros: number | bigint;
}

export const advertiserAccount = (advertiserId: string): Account => `advertiser:${advertiserId}`;
export const publisherAccount = (botId: string): Account => `publisher:${botId}`;

/** Both sides of a movement from one account to another. */
export function movement(of: { from: Account; to: Account; amountMicros: number | bigint }): Entry[] {
  return [
    { account: of.from, amountMicros: -of.amountMicros },
    { account: of.to, amountMicros: of.amountMicros },
  ];
}

export interface MoneyTransaction {
  /** The same one is recorded once. */
  transactionId: string;
  kind: EntryKind;
  /** They sum to 0, which the database checks. */
  entries: readonly Entry[];
  currency: string;
  reference?: string | undefined;
  note?: string | undefined;
  /** The first day of the month that a payout ends with. */
  month?: string | undefined;
  at: Date;
}

const insert = statement<never>(
  "money.record",
  `with made as (
     insert into money_transactions (transaction_id, reference, reference_key, note, month) values ($1, $2, $10, $3, $9)
     on conflict do nothing returning transaction_id
   )
   insert into money_entries (transaction_id, account, kind, amount_micros, currency, at)
   select transaction_id, account, $4, amount, $5, $6 from made cross join unnest($7::text[], $8::bigint[]) as entry (account, amount)
   returning 1`,
);

/** Writes all sides in one statement. A transaction that was recorded before changes nothing. */
export async function recordTransaction(
  database: Pick<Database, "run">,
  { transactionId, kind, entries, currency, reference, note, month, at }: MoneyTransaction,
): Promise<"recorded" | "recorded-before"> {
  const accounts = entries.map(({ account }) => account);
  const amounts = entries.map(({ amountMicros }) => amountMicros);
  const key = reference === undefined ? undefined : referenceKey(reference);
  const values = [transactionId, reference, note, kind, currency, at, accounts, amounts, month, key];
  return (await database.run(insert, values)).length > 0 ? "recorded" : "recorded-before";
}

/** With the same `idempotencyKey` of the caller, the same id. */
export function newTransactionId(kind: EntryKind, idempotencyKey = bs58.encode(randomBytes(12))): string {
  return `${kind.replace("_", "-")} ${idempotencyKey}`;
}

/** Entries that no priced event causes. A partial index has them. */
const paymentKinds = "('top_up', 'correction', 'payout')";

export interface RecordedEntry {
  account: Account;
  amount: string;
  currency: string;
  reference: string | null;
  note: string | null;
}

const findTransaction = statement<RecordedEntry>(
  "money.find-transaction",
  `select account, amount_micros::text as amount, currency, reference, note
   from money_entries join money_transactions using (transaction_id) where transaction_id = $1`,
);

/** The entries of a transaction; none: it is not recorded. */
export function entriesIn(database: Pick<Database, "run">, transactionId: string): Promise<RecordedEntry[]> {
  return database.run(findTransaction, [transactionId]);
}

/** Whether entries are those that this transaction would record. */
export function areOf(made: MoneyTransaction, recorded: readonly RecordedEntry[]): boolean {
  const { entries, reference = null, note = null } = made;
  return (
    recorded.length === entries.length &&
    recorded.every(
      (row) =>
        row.reference === reference &&
        row.note === note &&
        entries.some((entry) => entry.account === row.account && BigInt(entry.amountMicros) === BigInt(row.amount)),
    )
  );
}

/** SQL of what was paid in to an advertiser's account. The id is an SQL expression. */
export function paidIn(advertiserId: string): string {
  return `(select coalesce(sum(amount_micros), 0) from money_entries
     where account = 'advertiser:' || ${advertiserId} and kind in ${paymentKinds})`;
}

/** SQL of what an advertiser's campaigns spent, less refunds: the sums that commit with the events. A buyer owes what was shown. */
export function spentBy(advertiserId: string, days = "true"): string {
  return `(select coalesce(sum(case when campaign_id in (select campaign_id from buyers) then shown_micros else spent_micros end), 0)
     from campaigns as owned join campaign_days using (campaign_id)
     where owned.advertiser_id = ${advertiserId} and ${days})`;
}

const sumOfAccount = statement<{ sum: string }>(
  "money.sum-of-account",
  "select coalesce(sum(amount_micros), 0)::text as sum from money_entries where account = $1",
);

/** What the entries of an account sum to. */
export async function sumOfEntries(tx: Pick<Transaction, "run">, account: Account): Promise<bigint> {
  return BigInt((await tx.run(sumOfAccount, [account]))[0]?.sum ?? 0);
}

const lock = statement<never>("money.lock-account", "select pg_advisory_xact_lock(hashtextextended($1, 0))::text");

/** Payments, corrections and payouts of an account wait for each other: what one of them compares, no other writes meanwhile. */
export async function lockAccount(tx: Transaction, account: Account): Promise<void> {
  await tx.run(lock, [`money of ${account}`]);
}

const lockAllPayouts = statement<never>(
  "money.lock-payouts",
  "select pg_advisory_xact_lock(hashtextextended('payouts', 0))::text",
);
const lockOnePayout = statement<never>(
  "money.lock-payout",
  "select pg_advisory_xact_lock_shared(hashtextextended('payouts', 0))::text",
);

/** Payouts of all publishers wait for those of one, and they for them. Before `lockAccount`. */
export async function lockPayouts(tx: Transaction, of: "one" | "all"): Promise<void> {
  await tx.run(of === "all" ? lockAllPayouts : lockOnePayout, []);
}

const findReference = statement<{ transactionId: string }>(
  "money.find-reference",
  `select transaction_id as "transactionId" from money_entries join money_transactions using (transaction_id)
   where account = $1 and kind = $2 and reference_key = $3 and kind in ${paymentKinds}
     and not ($4::boolean and starts_with(transaction_id, 'payment ')) order by entry_id limit 1`,
);

/** The first transaction of the account and kind with this reference, as people read it; `isByHand`: that no provider reported. */
export async function findByReference(
  tx: Pick<Transaction, "run">,
  of: { account: Account; kind: EntryKind; reference: string; isByHand: boolean },
): Promise<string | undefined> {
  const [found] = await tx.run(findReference, [of.account, of.kind, referenceKey(of.reference), of.isByHand]);
  return found?.transactionId;
}

interface AccountEntry {
  entryId: number;
  transactionId: string;
  kind: EntryKind;
  amountMicros: string;
  currency: string;
  at: Date;
  reference: string | null;
  note: string | null;
}

const list = statement<AccountEntry>(
  "money.list-entries",
  `select entry_id as "entryId", transaction_id as "transactionId", kind, amount_micros::text as "amountMicros", currency, at,
     reference, note
   from money_entries join money_transactions using (transaction_id)
   where account = $1 and at >= coalesce($2::timestamptz, '-infinity') and at < coalesce($3::timestamptz, 'infinity')
     and ($4::bigint is null or entry_id < $4)
   order by entry_id desc limit $5`,
);

interface EntryList {
  account: Account;
  from?: Date | undefined;
  to?: Date | undefined;
  /** The entry before which the page ends. */
  before?: string | undefined;
  limit: number;
}

/** The latest first. */
export async function listEntries(database: Pick<Database, "run">, of: EntryList): Promise<AccountEntry[]> {
  return database.run(list, [of.account, of.from, of.to, of.before, of.limit]);
}

const readProgress = statement<{ settledUntil: Date | null }>(
  "money.settled-until",
  `select case when isfinite(min(settled_until)) then min(settled_until) end as "settledUntil" from money_progress`,
);

/** Charges and refunds until this moment have entries. Null: none was settled yet. */
export async function settledUntil(database: Pick<Database, "run">): Promise<Date | null> {
  return (await database.run(readProgress, []))[0]?.settledUntil ?? null;
}
