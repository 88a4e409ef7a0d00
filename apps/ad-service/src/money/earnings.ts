import { payablePart } from "@intermission/operator-api/currency-units";
import type { EarningsMonth, PublisherMoney } from "@intermission/operator-api/publisher-money";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { findPatterns } from "@intermission/postgres/find-patterns";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { jsonInteger } from "@intermission/server/exact-json";
import { type Approval, askIfNeeded, type Withheld } from "./ask-approval.ts";
import {
  lockAccount,
  lockPayouts,
  movement,
  newTransactionId,
  publisherAccount,
  settledUntil,
  sumOfEntries,
} from "./ledger.ts";
import { endOfMonth } from "./months.ts";
import { recordOnceIn } from "./record-once.ts";

const readMonths = statement<{ month: string; earned: string }>(
  "money.earnings-by-month",
  `select to_char(at, 'YYYY-MM') as month, sum(amount_micros)::text as earned
   from money_entries where account = $1 and kind <> 'payout' group by 1 order by 1 desc limit 120`,
);
const readPayouts = statement<{ month: string; paid: string; at: Date; reference: string | null }>(
  "money.payouts",
  `select to_char(month, 'YYYY-MM') as month, (-amount_micros)::text as paid, at, reference
   from money_entries join money_transactions using (transaction_id)
   where account = $1 and kind = 'payout' and kind in ('top_up', 'correction', 'payout') order by month desc`,
);

export interface Earnings {
  months: EarningsMonth[];
  /** What is owed in all, also for the running month. */
  owedMicros: number;
}

/** What a bot's publisher earned, by month (UTC), the latest first. A payout pays its month and all earlier ones. */
export async function readEarnings(database: Pick<Database, "run">, botId: string): Promise<Earnings> {
  const account = publisherAccount(botId);
  const [earned, payouts] = [await database.run(readMonths, [account]), await database.run(readPayouts, [account])];
  const months = earned.map(({ month, earned: sum }) => {
    const payout = payouts.findLast((one) => one.month >= month);
    return {
      month,
      earnedMicros: jsonInteger(BigInt(sum)),
      paidAt: payout?.at ?? null,
      reference: payout?.reference ?? null,
    };
  });
  return { months, owedMicros: jsonInteger(await sumOfEntries(database, account)) };
}

interface PublisherRow extends Pick<PublisherMoney, "botId" | "name" | "paidAt" | "reference"> {
  earned: string;
  owed: string;
  /** The least amount of a payout. */
  least: string;
  payeeName: string | null;
  iban: string | null;
  isSample: boolean;
  isFound: boolean;
}

/** SQL of the least amount of a payout to a publisher, whose details are in the row `payee`. */
const leastPayout = `coalesce((payee.details ->> 'least_payout_micros')::bigint, (
     select (details ->> 'least_payout_micros')::bigint from money_parties where account = 'operator'), 0)::text`;

const matching = "($1::text[] = '{}' or bot_id ~ all ($1) or normalize(name, nfkc) ~ all ($1))";

// Unnamed, since an operator runs it rarely.
const readPublishers: Statement<PublisherRow> = {
  name: "",
  text: `select bot_id as "botId", name, coalesce(sums.earned, 0)::text as earned, coalesce(sums.owed, 0)::text as owed,
     payout.at as "paidAt", payout.reference, ${leastPayout} as least, payee.details ->> 'legal_name' as "payeeName",
     payee.details ->> 'iban' as iban, exists (select from sample where bot_id = any (sample.bot_ids)) as "isSample",
     is_found as "isFound"
   from (select bot_id, name, ${matching} as is_found from bots where ${matching} or bot_id = $2) as found
   cross join lateral (
     select sum(amount_micros) filter (where kind <> 'payout' and at >= $3 and at < $4) as earned,
       sum(amount_micros) filter (where kind = 'payout' or at < $4) as owed
     from money_entries where account = 'publisher:' || bot_id
   ) as sums
   left join lateral (
     select at, reference from money_entries join money_transactions using (transaction_id)
     where account = 'publisher:' || bot_id and kind = 'payout' and kind in ('top_up', 'correction', 'payout')
       and month >= $3::date
     order by month limit 1
   ) as payout on true
   left join money_parties as payee on payee.account = 'publisher:' || bot_id
   order by bot_id`,
};

/**
 * The month's earnings of the publishers whose bots match, and the payout in this currency. The bot `after`, at which an earlier
 * page ended, is included even if it does not match.
 */
export async function readPublisherMoney(
  database: Pick<Database, "run">,
  { month, currency, find, after }: OfMonth & { find?: string | undefined; after?: string | undefined },
): Promise<(PublisherMoney & { isFound: boolean })[]> {
  const range = [`${month}-01T00:00:00Z`, endOfMonth(month)];
  const rows = await database.run(readPublishers, [findPatterns(find), after, ...range]);
  return rows.map(({ earned, owed, least, payeeName, iban, isSample, ...row }) => {
    // A payout of a later month has paid this one, too.
    const owedMicros = row.paidAt !== null && BigInt(owed) < 0n ? 0n : BigInt(owed);
    return {
      ...row,
      earnedMicros: jsonInteger(BigInt(earned)),
      owedMicros: jsonInteger(owedMicros),
      payableMicros: jsonInteger(row.paidAt === null ? dueOf({ owed, least, currency }) : 0n),
      hasPayee: payeeName !== null && iban !== null && !isSample,
    };
  });
}

/** What a payout pays: whole units of the currency, and nothing below the least amount. */
function dueOf({ owed, least, currency }: { owed: string | bigint; least: string; currency: string }): bigint {
  const payable = payablePart(BigInt(owed), currency);
  return payable < BigInt(least) ? 0n : payable;
}

type OfMonth = { month: string; currency: string };

/** Nobody is paid for the sample. */
async function readDue(tx: Pick<Transaction, "run">, { month, currency }: OfMonth) {
  const rows = await tx.run(readPublishers, [[], null, `${month}-01T00:00:00Z`, endOfMonth(month)]);
  return rows
    .filter(({ paidAt, isSample }) => paidAt === null && !isSample)
    .map((row) => ({ ...row, amountMicros: dueOf({ ...row, currency }) }))
    .filter(({ amountMicros }) => amountMicros > 0n);
}

/** The payouts of a month that are due to publishers whose name and account are known. */
export async function listDuePayouts(tx: Pick<Transaction, "run">, of: OfMonth) {
  return (await readDue(tx, of)).flatMap(({ botId, amountMicros, payeeName, iban }) =>
    payeeName !== null && iban !== null ? [{ botId, amountMicros, payeeName, iban }] : [],
  );
}

/** How many payouts of a month are due, also where the account is not known. */
export async function countDuePayouts(tx: Pick<Transaction, "run">, of: OfMonth): Promise<number> {
  return (await readDue(tx, of)).length;
}

/** Whether a month can be paid: it is over, and all of its charges and refunds have entries. */
export function isPayable(month: string, { settled, now }: { settled: Date | null; now: Date }): boolean {
  const end = endOfMonth(month);
  return settled !== null && settled >= end && now >= end;
}

export type PayoutOutcome =
  | { outcome: "paid"; transactionId: string; amountMicros: number }
  | { outcome: "paid-before"; until: string }
  | { outcome: "nothing-owed" }
  /** Another amount than the one that was paid. */
  | { outcome: "owed-otherwise"; payableMicros: bigint }
  /** The idempotency key is that of another payout. */
  | { outcome: "key-reused" }
  /** The month is not over, or not settled yet. */
  | { outcome: "too-early" }
  | Withheld;

const findPayout = statement<{
  account: string;
  month: string;
  amount: string;
  reference: string | null;
  note: string | null;
}>(
  "money.find-payout",
  `select account, to_char(month, 'YYYY-MM') as month, (-amount_micros)::text as amount, reference, note
   from money_entries join money_transactions using (transaction_id)
   where transaction_id = $1 and kind = 'payout' and account <> 'cash'`,
);
const readOwed = statement<{ owed: string; paidUntil: string | null; least: string }>(
  "money.owed-until",
  `select owed, "paidUntil", ${leastPayout} as least
   from (
     select coalesce(sum(amount_micros) filter (where kind = 'payout' or at < $2), 0)::text as owed,
       to_char(max(month), 'YYYY-MM') as "paidUntil"
     from money_entries join money_transactions using (transaction_id) where account = $1
   ) as sums left join money_parties as payee on payee.account = $1`,
);

export interface Payout {
  botId: string;
  /** As `2026-03`. */
  month: string;
  /** What was paid; undefined: whatever is owed. */
  amountMicros?: number | undefined;
  reference: string;
  note?: string | undefined;
  idempotencyKey?: string | undefined;
  currency: string;
  author?: Author | undefined;
  now: Date;
}

/** Records that everything which was owed until the end of the month was paid. Each payout pays what earlier ones have left. */
export function recordPayout(database: Pick<Database, "transaction">, payout: Payout): Promise<PayoutOutcome> {
  return database.transaction((tx) => recordPayoutIn(tx, payout, "asks"));
}

/** As a part of a transaction. What is asked for has the amount that is owed now. */
export async function recordPayoutIn(tx: Transaction, payout: Payout, approval: Approval): Promise<PayoutOutcome> {
  const { botId, month, amountMicros, idempotencyKey, author, now } = payout;
  const account = publisherAccount(botId);
  const transactionId =
    idempotencyKey === undefined ? `payout ${botId} ${month}` : newTransactionId("payout", idempotencyKey);
  const change = await openChange(tx, author, botId);
  await lockPayouts(tx, "one");
  await lockAccount(tx, account);
  if (idempotencyKey !== undefined) {
    const repeat = await outcomeOfRepeat(tx, transactionId, payout);
    if (repeat !== undefined) return repeat;
  }
  if (!isPayable(month, { settled: await settledUntil(tx), now })) return { outcome: "too-early" };
  const { reference, note, currency } = payout;
  const { owed, paidUntil, least } = await owedUntil(tx, account, endOfMonth(month));
  if (paidUntil !== null && paidUntil >= month) return { outcome: "paid-before", until: paidUntil };
  // What is less than the smallest unit, or the least amount, stays owed, and is paid with a later month.
  const payable = dueOf({ owed, least, currency });
  if (payable === 0n) return { outcome: "nothing-owed" };
  if (amountMicros !== undefined && payable !== BigInt(amountMicros))
    return { outcome: "owed-otherwise", payableMicros: payable };
  if (approval === "asks") {
    const values = { botId, month, amountMicros: Number(payable), reference, note: note ?? null };
    const requested = { operation: "recordPayout", ...values, idempotencyKey: idempotencyKey ?? null } as const;
    const key = { text: transactionId, isCallers: idempotencyKey !== undefined };
    const withheld = await askIfNeeded(tx, { requested, objectId: botId, amountMicros: payable, key, author });
    if (withheld !== undefined) return withheld;
  }
  const entries = movement({ from: account, to: "cash", amountMicros: payable });
  const made = { transactionId, kind: "payout" as const, entries, currency, reference, note, at: now };
  const recorded = await recordOnceIn(tx, { made: { ...made, month: `${month}-01` }, account, asksAbout: "nothing" });
  if (recorded.outcome !== "recorded") return { outcome: "key-reused" };
  await audit(tx, change);
  return { outcome: "paid", transactionId, amountMicros: jsonInteger(payable) };
}

/** Undefined: nothing was recorded with this key. */
async function outcomeOfRepeat(
  tx: Transaction,
  transactionId: string,
  { botId, month, amountMicros, reference, note }: Payout,
): Promise<PayoutOutcome | undefined> {
  const [recorded] = await tx.run(findPayout, [transactionId]);
  if (recorded === undefined) return undefined;
  const isSame =
    recorded.account === publisherAccount(botId) &&
    recorded.month === month &&
    recorded.reference === reference &&
    recorded.note === (note ?? null) &&
    (amountMicros === undefined || BigInt(recorded.amount) === BigInt(amountMicros));
  if (!isSame) return { outcome: "key-reused" };
  return { outcome: "paid", transactionId, amountMicros: jsonInteger(BigInt(recorded.amount)) };
}

async function owedUntil(tx: Transaction, account: string, end: Date) {
  const [row] = await tx.run(readOwed, [account, end]);
  return { owed: BigInt(row?.owed ?? 0), paidUntil: row?.paidUntil ?? null, least: row?.least ?? "0" };
}
