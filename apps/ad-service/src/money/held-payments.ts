import { randomBytes } from "node:crypto";
import type { HeldPayment } from "@intermission/operator-api/held-payments";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { jsonInteger } from "@intermission/server/exact-json";
import bs58 from "bs58";
import { type Approval, askIfNeeded, type Withheld } from "./ask-approval.ts";
import { advertiserAccount, entriesIn, movement } from "./ledger.ts";
import type { Payment } from "./payment-provider.ts";
import { type Recorded, recordOnceIn } from "./record-once.ts";

/** A payment as a provider has reported it. */
interface ReportedPayment extends Omit<Payment, "reference"> {
  provider: string;
  reference: string;
}

type ReportOutcome =
  | { outcome: "recorded" }
  | { outcome: "recorded-before" }
  /** A person decides whether it is credited. */
  | { outcome: "held" }
  /** A person has decided that it credits nothing. */
  | { outcome: "dismissed" }
  /** The provider has reported it before with another amount, advertiser or currency. */
  | { outcome: "reported-otherwise" }
  | { outcome: "other-currency" }
  | { outcome: "unknown-advertiser" };

const lock = statement<never>("money.lock-payment", "select pg_advisory_xact_lock(hashtextextended($1, 0))::text");
const isKnown = statement<{ one: number }>(
  "money.is-known-advertiser",
  "select 1 as one from advertisers where advertiser_id = $1",
);

type HeldRow = Omit<HeldPayment, "amountMicros"> & { amount: string };

const columns = `held_id as "heldId", provider, payment_id as "paymentId", reason, known_transaction_id as "knownTransactionId",
     advertiser_id as "advertiserId", (select name from advertisers where advertisers.advertiser_id = held_payments.advertiser_id) as advertiser,
     amount_micros::text as amount, currency, reference, reported_at as "reportedAt", state, decided_at as "decidedAt"`;
const findReports = statement<HeldRow>(
  "money.find-held-reports",
  `select ${columns} from held_payments where provider = $1 and payment_id = $2 order by reported_at, held_id limit 100`,
);
const insert = statement<{ heldId: string }>(
  "money.hold-payment",
  `insert into held_payments (held_id, provider, payment_id, reason, known_transaction_id, advertiser_id, amount_micros, currency,
     reference, reported_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing returning held_id as "heldId"`,
);

/** Other values under one id are listed this often: a provider that changes them with each report fills no disk. */
const MAX_REPORTS = 100;

/** Credits a payment once, and holds what may be credited already. */
export async function recordReported(
  database: Database,
  payment: ReportedPayment,
  { currency, now }: { currency: string; now: Date },
): Promise<ReportOutcome> {
  return database.transaction<ReportOutcome>(async (tx) => {
    const { provider, paymentId, advertiserId } = payment;
    await tx.run(lock, [transactionIdOf(payment)]);
    const hold = async (reason: HeldPayment["reason"], known: string | null) => {
      const heldId = `hld_${bs58.encode(randomBytes(9))}`;
      const { amountMicros, currency: reported, reference } = payment;
      const values = [provider, paymentId, reason, known, advertiserId, amountMicros, reported, reference, now];
      await tx.run(insert, [heldId, ...values]);
    };
    const reports = await tx.run(findReports, [provider, paymentId]);
    const first = reports.find(({ reason }) => reason === "reference-known");
    const credited = await isCredited(tx, payment);
    if (credited === "same") return { outcome: "recorded-before" };
    if (credited === "otherwise" || (first !== undefined && !isSame(first, payment))) {
      if (reports.length < MAX_REPORTS)
        await hold("reported-otherwise", credited === undefined ? null : transactionIdOf(payment));
      return { outcome: "reported-otherwise" };
    }
    if (first !== undefined) return { outcome: reportedAgain[first.state] };
    if ((await tx.run(isKnown, [advertiserId])).length === 0) return { outcome: "unknown-advertiser" };
    if (payment.currency !== currency) return { outcome: "other-currency" };
    const recorded = await credit(tx, payment, { asksAbout: "payments-by-hand", now });
    if (recorded.outcome !== "reference-known") return { outcome: "recorded" };
    await hold("reference-known", recorded.transactionId);
    return { outcome: "held" };
  });
}

/** What a repeated report of a held payment is answered, by what became of it. */
const reportedAgain = {
  open: "held",
  credited: "recorded-before",
  dismissed: "dismissed",
} as const satisfies Record<HeldPayment["state"], ReportOutcome["outcome"]>;

function transactionIdOf({ provider, paymentId }: Pick<ReportedPayment, "provider" | "paymentId">): string {
  return `payment ${provider} ${paymentId}`;
}

async function isCredited(tx: Transaction, payment: ReportedPayment): Promise<"same" | "otherwise" | undefined> {
  const entries = await entriesIn(tx, transactionIdOf(payment));
  if (entries.length === 0) return undefined;
  const account = advertiserAccount(payment.advertiserId);
  const isSameEntry = entries.some(
    (entry) =>
      entry.account === account &&
      BigInt(entry.amount) === BigInt(payment.amountMicros) &&
      entry.currency === payment.currency,
  );
  return isSameEntry ? "same" : "otherwise";
}

function isSame(held: HeldRow, payment: ReportedPayment): boolean {
  return (
    held.advertiserId === payment.advertiserId &&
    BigInt(held.amount) === BigInt(payment.amountMicros) &&
    held.currency === payment.currency
  );
}

function credit(
  tx: Transaction,
  payment: Omit<ReportedPayment, "amountMicros"> & { amountMicros: number | bigint },
  { asksAbout, now }: Pick<Recorded, "asksAbout"> & { now: Date },
) {
  const { provider, advertiserId, amountMicros, currency, reference } = payment;
  const account = advertiserAccount(advertiserId);
  const made = {
    transactionId: transactionIdOf(payment),
    kind: "top_up" as const,
    entries: movement({ from: "cash", to: account, amountMicros }),
    currency,
    reference,
    note: `reported by ${provider}`,
    at: now,
  };
  return recordOnceIn(tx, { made, account, asksAbout });
}

// Unnamed, since an operator runs it rarely.
const list: Statement<HeldRow> = {
  name: "",
  text: `select ${columns} from held_payments
   where ($1::text is null or state = $1) and ($2::text is null or (reported_at, held_id) < (
     select before.reported_at, before.held_id from held_payments as before where before.held_id = $2))
   order by reported_at desc, held_id desc limit $3`,
};

/** The latest first. */
export async function listHeldPayments(
  database: Pick<Database, "run">,
  of: { state?: HeldPayment["state"] | undefined; after?: string | undefined; limit: number },
): Promise<HeldPayment[]> {
  return (await database.run(list, [of.state, of.after, of.limit])).map(paymentOf);
}

function paymentOf({ amount, ...row }: HeldRow): HeldPayment {
  return { ...row, amountMicros: jsonInteger(BigInt(amount)) };
}

const find = statement<HeldRow>("money.find-held-payment", `select ${columns} from held_payments where held_id = $1`);
const lockHeld = statement<never>(
  "money.lock-held-payment",
  "select from held_payments where held_id = $1 for no key update",
);
const decide = statement<HeldRow>(
  "money.decide-held-payment",
  `update held_payments set state = $2, decided_at = $3 where held_id = $1 returning ${columns}`,
);

async function findHeldPayment(tx: Pick<Transaction, "run">, heldId: string): Promise<HeldPayment | undefined> {
  const [row] = await tx.run(find, [heldId]);
  return row && paymentOf(row);
}

export type HeldDecision =
  | { outcome: "decided"; payment: HeldPayment }
  | { outcome: "unknown" }
  | { outcome: "decided-before"; state: HeldPayment["state"] }
  /** Of a report with other values than the one before: what is right is corrected by hand. */
  | { outcome: "not-creditable" }
  | Withheld;

interface DecideHeld {
  heldId: string;
  state: "credited" | "dismissed";
  author?: Author | undefined;
  now: Date;
}

/** Credits a held payment, as another one than the one that it looks like, or settles that it credits nothing. */
export function decideHeldPayment(database: Database, of: DecideHeld): Promise<HeldDecision> {
  return database.transaction((tx) => decideHeldPaymentIn(tx, of, "asks"));
}

/** As a part of a transaction. */
export async function decideHeldPaymentIn(
  tx: Transaction,
  { heldId, state, author, now }: DecideHeld,
  approval: Approval,
): Promise<HeldDecision> {
  const reported = await findHeldPayment(tx, heldId);
  if (reported === undefined) return { outcome: "unknown" };
  const change = await openChange(tx, author, reported.advertiserId);
  await tx.run(lockHeld, [heldId]);
  const held = await findHeldPayment(tx, heldId);
  if (held === undefined) return { outcome: "unknown" };
  if (held.state !== "open") return { outcome: "decided-before", state: held.state };
  if (state === "credited") {
    if (held.reason !== "reference-known") return { outcome: "not-creditable" };
    const reference = held.reference ?? held.paymentId;
    if (approval === "asks") {
      const { advertiserId: objectId, amountMicros } = held;
      const requested = {
        operation: "creditHeldPayment",
        advertiserId: objectId,
        heldId,
        amountMicros,
        reference,
      } as const;
      const key = { text: `held ${heldId}`, isCallers: false };
      const withheld = await askIfNeeded(tx, { requested, objectId, amountMicros, key, author });
      if (withheld !== undefined) return withheld;
    }
    await credit(tx, { ...held, reference }, { asksAbout: "nothing", now });
  }
  const [decided] = await tx.run(decide, [heldId, state, now]);
  if (decided === undefined) return { outcome: "unknown" };
  await audit(tx, change);
  return { outcome: "decided", payment: paymentOf(decided) };
}
