import type { EarningsMonth } from "@intermission/operator-api/money";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { jsonInteger } from "@intermission/server/exact-json";
import { movement, publisherAccount, recordTransaction, settledUntil, sumOfEntries } from "./ledger.ts";
import { endOfMonth, monthOf } from "./months.ts";

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

export type PayoutOutcome =
  | { outcome: "paid"; transactionId: string; amountMicros: number }
  | { outcome: "paid-before"; until: string }
  | { outcome: "nothing-owed" }
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
  reference: string;
  note?: string | undefined;
  currency: string;
  now: Date;
}

/** Records that everything which was owed until the end of the month was paid. */
export async function recordPayout(database: Database, payout: Payout): Promise<PayoutOutcome> {
  const { botId, month, reference, note, currency, now } = payout;
  const account = publisherAccount(botId);
  const end = endOfMonth(month);
  return database.transaction<PayoutOutcome>(async (tx) => {
    await tx.run(lockBot, [botId]);
    const settled = await settledUntil(tx);
    if (settled === null || settled < end || now < end || monthOf(now) <= month) return { outcome: "too-early" };
    const { owed, paidUntil } = await owedUntil(tx, account, end);
    if (paidUntil !== null && paidUntil >= month) return { outcome: "paid-before", until: paidUntil };
    if (owed <= 0n) return { outcome: "nothing-owed" };
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
