import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { ibanOnlyCountries } from "@intermission/operator-api/iban";
import type { OperatorParty } from "@intermission/operator-api/parties";
import { noOperatorParty } from "@intermission/operator-api/parties";
import type { PayoutRun } from "@intermission/operator-api/payout-runs";
import { byStoredName } from "@intermission/operator-api/stored-names";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { jsonInteger } from "@intermission/server/exact-json";
import bs58 from "bs58";
import { askIfNeeded, type Withheld } from "./ask-approval.ts";
import { isPayable, listDuePayouts } from "./earnings.ts";
import { lockPayouts, settledUntil } from "./ledger.ts";
import { partyOf, readOperatorParty } from "./parties.ts";
import { referenceKey } from "./reference-key.ts";

/** One payout of a run, as its file for the bank has it. */
export interface RunPayment {
  botId: string;
  amountMicros: bigint;
  payeeName: string;
  iban: string;
}

export type PayAllOutcome =
  | { outcome: "paid"; run: PayoutRun }
  /** Nobody with a payee is due anything. */
  | { outcome: "nothing-due" }
  /** Another sum than the one that the caller has seen. */
  | { outcome: "due-otherwise"; dueMicros: bigint }
  /** What was approved is due no more, or to other accounts. */
  | { outcome: "changed-since" }
  /** The idempotency key is that of another run. */
  | { outcome: "key-reused" }
  /** The month is not over, or not settled yet. */
  | { outcome: "too-early" }
  | Withheld;

export interface PayAll {
  /** As `2026-03`. */
  month: string;
  amountMicros?: number | undefined;
  reference?: string | undefined;
  idempotencyKey?: string | undefined;
  currency: string;
  author?: Author | undefined;
  now: Date;
}

type ApprovedPayment = Pick<RunPayment, "botId" | "payeeName" | "iban"> & { amountMicros: number };

const insertRun = statement<never>(
  "money.insert-payout-run",
  `insert into payout_runs (run_id, idempotency_key, month, currency, reference, debtor, made_at)
   values ($1, $2, $3, $4, $5, $6, $7)`,
);
// One statement writes all sides of all payouts, which the ledger's trigger checks.
const insertPayouts = statement<never>(
  "money.insert-payouts-of-run",
  `with paid as (
     select 'payout ' || bot_id || ' ' || to_char($6::date, 'YYYY-MM') as id, bot_id, amount, name, iban
     from unnest($2::text[], $3::bigint[], $4::text[], $5::text[]) as one (bot_id, amount, name, iban)
   ),
   made as (
     insert into money_transactions (transaction_id, reference, reference_key, month) select id, $7, $8, $6 from paid
   ),
   entered as (
     insert into money_entries (transaction_id, account, kind, amount_micros, currency, at)
     select id, account, 'payout', amount * sign, $9, $10
     from paid cross join lateral (values ('publisher:' || bot_id, -1), ('cash', 1)) as side (account, sign)
     order by id, account
   )
   insert into payout_run_payments (run_id, bot_id, transaction_id, amount_micros, payee_name, iban)
   select $1, bot_id, id, amount, name, iban from paid`,
);

/**
 * Records the payouts of a month to all publishers to whom one is due and whose name and account are known: each pays everything
 * until the month's end, as `recordPayout` does. All or none; of requests at the same moment one.
 */
export function payAll(database: Pick<Database, "transaction">, of: PayAll): Promise<PayAllOutcome> {
  return database.transaction((tx) => payAllIn(tx, of, "asks"));
}

/** As a part of a transaction. `approval`: exactly these payments are approved; nothing is recorded if others are due. */
export async function payAllIn(
  tx: Transaction,
  of: PayAll,
  approval: "asks" | { payments: readonly ApprovedPayment[] },
): Promise<PayAllOutcome> {
  const { month, currency, reference = `Payout ${of.month}`, idempotencyKey, author, now } = of;
  const runId = `run_${bs58.encode(randomBytes(12))}`;
  const change = await openChange(tx, author, runId);
  await lockPayouts(tx, "all");
  const before = idempotencyKey === undefined ? undefined : await findRun(tx, byKey, idempotencyKey);
  if (before !== undefined) {
    const { amountMicros = before.amountMicros } = of;
    const isSame =
      before.month === month && before.reference === reference && BigInt(amountMicros) === BigInt(before.amountMicros);
    return isSame ? { outcome: "paid", run: before } : { outcome: "key-reused" };
  }
  if (!isPayable(month, { settled: await settledUntil(tx), now })) return { outcome: "too-early" };
  const due = await listDuePayouts(tx, { month, currency });
  if (due.length === 0) return { outcome: "nothing-due" };
  const dueMicros = due.reduce((sum, one) => sum + one.amountMicros, 0n);
  if (of.amountMicros !== undefined && BigInt(of.amountMicros) !== dueMicros)
    return { outcome: "due-otherwise", dueMicros };
  const payments = due.map((one) => ({ ...one, amountMicros: Number(one.amountMicros) }));
  if (approval === "asks") {
    const values = { month, amountMicros: Number(dueMicros), reference, payments };
    const requested = { operation: "payAll", ...values, idempotencyKey: idempotencyKey ?? null } as const;
    const key = { text: `pay-all ${idempotencyKey ?? month}`, isCallers: idempotencyKey !== undefined };
    const withheld = await askIfNeeded(tx, { requested, objectId: month, amountMicros: dueMicros, key, author });
    if (withheld !== undefined) return withheld;
  } else if (!isDeepStrictEqual(payments, approval.payments)) return { outcome: "changed-since" };
  await storeRun(tx, { runId, idempotencyKey, month, currency, reference, due, now });
  await audit(tx, change);
  const run = await findRun(tx, byId, runId);
  if (run === undefined) throw new Error(`${runId} vanished while it was recorded`);
  return { outcome: "paid", run };
}

interface NewRun extends Pick<PayAll, "month" | "currency" | "idempotencyKey" | "now"> {
  runId: string;
  reference: string;
  due: readonly RunPayment[];
}

async function storeRun(tx: Transaction, { runId, idempotencyKey, month, currency, reference, due, now }: NewRun) {
  const debtor = JSON.stringify(byStoredName(await readOperatorParty(tx)));
  const firstDay = `${month}-01`;
  await tx.run(insertRun, [runId, idempotencyKey, firstDay, currency, reference, debtor, now]);
  const columns = [
    due.map(({ botId }) => botId),
    due.map(({ amountMicros }) => amountMicros),
    due.map(({ payeeName }) => payeeName),
    due.map(({ iban }) => iban),
  ];
  await tx.run(insertPayouts, [runId, ...columns, firstDay, reference, referenceKey(reference), currency, now]);
}

type RunRow = Omit<PayoutRun, "amountMicros"> & { amount: string };
// $1: the countries where a transfer needs a name and an IBAN alone.
const select = `select run_id as "runId", to_char(month, 'YYYY-MM') as month, reference, currency, payouts, amount, made_at as "madeAt",
     currency = 'EUR' and debtor ->> 'legal_name' is not null and coalesce(left(debtor ->> 'iban', 2) = any ($1), false)
       and "isIbanOnly" as "hasSepaFile"
   from payout_runs cross join lateral (
     select count(*)::int as payouts, sum(amount_micros)::text as amount, bool_and(left(iban, 2) = any ($1)) as "isIbanOnly"
     from payout_run_payments where payout_run_payments.run_id = payout_runs.run_id
   ) as payments`;
const byKey = statement<RunRow>("money.payout-run-of-key", `${select} where idempotency_key = $2`);
const byId = statement<RunRow>("money.payout-run-of-id", `${select} where run_id = $2`);
// Unnamed, since its plan depends on the cursor.
const list: Statement<RunRow> = {
  name: "",
  text: `${select} where $2::text is null or (made_at, run_id) < (select made_at, run_id from payout_runs where run_id = $2)
   order by made_at desc, run_id desc limit $3`,
};

async function findRun(tx: Transaction, by: typeof byKey, value: string): Promise<PayoutRun | undefined> {
  const [row] = await tx.run(by, [ibanOnlyCountries, value]);
  return row && runOf(row);
}

function runOf({ amount, ...row }: RunRow): PayoutRun {
  return { ...row, amountMicros: jsonInteger(BigInt(amount)) };
}

/** The latest first. */
export async function listPayoutRuns(
  database: Pick<Database, "run">,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<PayoutRun[]> {
  return (await database.run(list, [ibanOnlyCountries, after, limit])).map(runOf);
}

export interface RunOfFile {
  runId: string;
  month: string;
  reference: string;
  currency: string;
  debtor: OperatorParty;
  madeAt: Date;
  payments: RunPayment[];
}

const find = statement<Omit<RunOfFile, "debtor" | "payments"> & { debtor: Record<string, unknown> }>(
  "money.find-payout-run",
  `select run_id as "runId", to_char(month, 'YYYY-MM') as month, reference, currency, debtor, made_at as "madeAt"
   from payout_runs where run_id = $1`,
);
const findPayments = statement<Omit<RunPayment, "amountMicros"> & { amount: string }>(
  "money.payments-of-run",
  `select bot_id as "botId", amount_micros::text as amount, payee_name as "payeeName", iban
   from payout_run_payments where run_id = $1 order by bot_id`,
);

/** What was recorded, for its file. Undefined: there is no such run. */
export async function findPayoutRun(database: Pick<Database, "run">, runId: string): Promise<RunOfFile | undefined> {
  const [run] = await database.run(find, [runId]);
  if (run === undefined) return undefined;
  const payments = (await database.run(findPayments, [runId])).map(({ amount, ...payment }) => ({
    ...payment,
    amountMicros: BigInt(amount),
  }));
  return { ...run, debtor: partyOf(run.debtor, noOperatorParty), payments };
}
