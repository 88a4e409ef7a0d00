import type { EarningsMonth, PublisherMoney } from "@intermission/operator-api/money";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { jsonInteger } from "@intermission/server/exact-json";
import { movement, publisherAccount, recordTransaction, settledUntil, sumOfEntries } from "./ledger.ts";
import { endOfMonth } from "./months.ts";

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
}

// Unnamed, since an operator runs it rarely.
const listPublishers: Statement<PublisherRow> = {
  name: "",
  text: `select bot_id as "botId", name, coalesce(sums.earned, 0)::text as earned, coalesce(sums.owed, 0)::text as owed,
     payout.at as "paidAt", payout.reference
   from (select bot_id, name from bots where $1::text is null or bot_id > $1 order by bot_id limit $2) as page
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
   order by bot_id`,
};

/** What the publishers of all bots earned in a month, and what its payout would pay. */
export async function listPublisherMoney(
  database: Pick<Database, "run">,
  { month, after, limit }: { month: string; after?: string | undefined; limit: number },
): Promise<PublisherMoney[]> {
  const rows = await database.run(listPublishers, [after, limit, `${month}-01T00:00:00Z`, endOfMonth(month)]);
  return rows.map(({ earned, owed, ...row }) => {
    const owedMicros = BigInt(owed);
    return {
      ...row,
      earnedMicros: jsonInteger(BigInt(earned)),
      // A payout of a later month has paid this one, too.
      owedMicros: jsonInteger(row.paidAt !== null && owedMicros < 0n ? 0n : owedMicros),
    };
  });
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
  | { outcome: "owed-otherwise"; owedMicros: bigint }
  /** The month is not over, or not settled yet. */
  | { outcome: "too-early" };

// Two payouts of one bot wait for each other: each pays what the other has left.
const lockBot = statement<never>("money.lock-bot", "select from bots where bot_id = $1 for no key update");
const readOwed = statement<{ owed: string; paidUntil: string | null }>(
  "money.owed-until",
  `select coalesce(sum(amount_micros) filter (where kind = 'payout' or at < $2), 0)::text as owed,
     to_char(max(month), 'YYYY-MM') as "paidUntil"
   from money_entries join money_transactions using (transaction_id) where account = $1`,
);

export interface Payout {
  botId: string;
  /** As `2026-03`. */
  month: string;
  /** What was paid; undefined: whatever is owed. */
  amountMicros?: number | undefined;
  reference: string;
  note?: string | undefined;
  currency: string;
  now: Date;
}

/** Records that everything which was owed until the end of the month was paid. */
export async function recordPayout(database: Database, payout: Payout): Promise<PayoutOutcome> {
  const { botId, month, amountMicros, reference, note, currency, now } = payout;
  const account = publisherAccount(botId);
  const end = endOfMonth(month);
  return database.transaction<PayoutOutcome>(async (tx) => {
    await tx.run(lockBot, [botId]);
    if (!isPayable(month, { settled: await settledUntil(tx), now })) return { outcome: "too-early" };
    const { owed, paidUntil } = await owedUntil(tx, account, end);
    if (paidUntil !== null && paidUntil >= month) return { outcome: "paid-before", until: paidUntil };
    if (owed <= 0n) return { outcome: "nothing-owed" };
    if (amountMicros !== undefined && owed !== BigInt(amountMicros))
      return { outcome: "owed-otherwise", owedMicros: owed };
    const transactionId = `payout ${botId} ${month}`;
    const entries = movement({ from: account, to: "cash", amountMicros: owed });
    const made = { transactionId, kind: "payout" as const, entries, currency, reference, note, at: now };
    await recordTransaction(tx, { ...made, month: `${month}-01` });
    return { outcome: "paid", transactionId, amountMicros: jsonInteger(owed) };
  });
}

async function owedUntil(tx: Transaction, account: string, end: Date) {
  const [row] = await tx.run(readOwed, [account, end]);
  return { owed: BigInt(row?.owed ?? 0), paidUntil: row?.paidUntil ?? null };
}
