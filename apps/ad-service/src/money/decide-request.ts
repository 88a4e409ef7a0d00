import type { MoneyRequest, Requested } from "@intermission/operator-api/money-requests";
import { type Author, audit, authorOn, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { type ApprovalAmountDeps, type ApprovalAmountOutcome, setApprovalAmountIn } from "./approval-amount.ts";
import { personOf } from "./ask-approval.ts";
import { type PayoutOutcome, recordPayoutIn } from "./earnings.ts";
import { decideHeldPaymentIn, type HeldDecision } from "./held-payments.ts";
import { findRequest } from "./list-requests.ts";
import { type PayAllOutcome, payAllIn } from "./payout-runs.ts";
import { type ByHand, type RecordByHandOutcome, recordByHandIn } from "./record-by-hand.ts";
import { type SetTermsOutcome, setTermsIn } from "./terms.ts";

/** What became of what was approved, by its operation. */
export type AppliedOutcome =
  | { operation: "setTerms"; of: SetTermsOutcome }
  | { operation: ByHand["operation"]; of: RecordByHandOutcome }
  | { operation: "creditHeldPayment"; of: HeldDecision }
  | { operation: "recordPayout"; of: PayoutOutcome; month: string }
  | { operation: "payAll"; of: PayAllOutcome; month: string }
  | { operation: "setApprovalAmount"; of: ApprovalAmountOutcome };

export type DecideOutcome =
  | { outcome: "decided"; request: MoneyRequest }
  | { outcome: "unknown" }
  | { outcome: "decided-before"; state: MoneyRequest["state"] }
  /** Only a person who has signed in approves: the command line is nobody. */
  | { outcome: "nobody" }
  /** Who has asked, or approved before, does not approve. */
  | { outcome: "own" }
  | { outcome: "owner-needed" }
  /** The currency is another one meanwhile. */
  | { outcome: "other-currency" }
  | { outcome: "not-applied"; applied: AppliedOutcome };

const lock = statement<{ requestedBy: string | null; secondedBy: string | null }>(
  "money.lock-request",
  `select requested_by as "requestedBy", seconded_by as "secondedBy" from money_requests where request_id = $1 for no key update`,
);
const isOwner = statement<never>(
  "money.is-owner",
  "select from people where person_id = $1 and role = 'owner' and not is_disabled",
);
const second = statement<never>(
  "money.second-request",
  "update money_requests set seconded_by = $2, seconded_by_name = $3 where request_id = $1",
);
const decide = statement<never>(
  "money.decide-request",
  `update money_requests set state = $2, decided_by = $3, decided_by_name = $4, decided_at = now(), reason = $5
   where request_id = $1`,
);

interface Decision {
  requestId: string;
  author: Author;
  currency: string;
  now: Date;
}

/**
 * Approves a request of another person: what it asks for is recorded in the same transaction, with its values, once. The first
 * person who approves what the command line asked for stands in its place.
 */
export function approveRequest(
  { database, ...deps }: ApprovalAmountDeps & { database: Database },
  of: Decision,
): Promise<DecideOutcome> {
  const { requestId, author, currency } = of;
  const person = personOf(author);
  if (person === undefined) return Promise.resolve({ outcome: "nobody" });
  return database.transaction<DecideOutcome>(async (tx) => {
    const change = await openChange(tx, author, requestId);
    const [stored] = await tx.run(lock, [requestId]);
    const request = await findRequest(tx, requestId, person.id);
    if (stored === undefined || request === undefined) return { outcome: "unknown" };
    if (request.state !== "waiting") return { outcome: "decided-before", state: request.state };
    if (request.isOwn) return { outcome: "own" };
    const isOfOwners = request.requested.operation === "setApprovalAmount";
    if (isOfOwners && (await tx.run(isOwner, [person.id])).length === 0) return { outcome: "owner-needed" };
    if (request.currency !== currency) return { outcome: "other-currency" };
    if (stored.requestedBy === null && stored.secondedBy === null) {
      await tx.run(second, [requestId, person.id, person.name]);
    } else {
      const applied = await apply(tx, deps, request.requested, of);
      if (!isDone(applied)) return { outcome: "not-applied", applied };
      await tx.run(decide, [requestId, "approved", person.id, person.name, null]);
    }
    await audit(tx, change);
    return decidedRequest(tx, requestId, person.id);
  });
}

/** Refuses a request; who asked for it withdraws it. */
export function refuseRequest(
  database: Database,
  { requestId, author, reason }: Pick<Decision, "requestId" | "author"> & { reason: string },
): Promise<DecideOutcome> {
  const person = personOf(author);
  return database.transaction<DecideOutcome>(async (tx) => {
    const change = await openChange(tx, author, requestId);
    const [stored] = await tx.run(lock, [requestId]);
    const request = await findRequest(tx, requestId, person?.id);
    if (stored === undefined || request === undefined) return { outcome: "unknown" };
    if (request.state !== "waiting") return { outcome: "decided-before", state: request.state };
    const state = stored.requestedBy === (person?.id ?? null) ? "withdrawn" : "refused";
    await tx.run(decide, [requestId, state, person?.id, person?.name, reason]);
    await audit(tx, change);
    return decidedRequest(tx, requestId, person?.id);
  });
}

async function decidedRequest(tx: Transaction, requestId: string, reader: string | undefined): Promise<DecideOutcome> {
  const request = await findRequest(tx, requestId, reader);
  return request === undefined ? { outcome: "unknown" } : { outcome: "decided", request };
}

async function apply(
  tx: Transaction,
  deps: ApprovalAmountDeps,
  requested: Requested,
  { author: ofRequest, currency, now }: Decision,
): Promise<AppliedOutcome> {
  const author = authorOn(ofRequest, kindOf[requested.operation]);
  switch (requested.operation) {
    case "setTerms": {
      const { advertiserId, terms, before: expected } = requested;
      const change = { advertiserId, ...terms, expected, author, approval: "approved" } as const;
      return { operation: requested.operation, of: await setTermsIn(tx, change) };
    }
    case "recordTopUp":
    case "correctAdvertiser":
    case "correctPublisher":
      return {
        operation: requested.operation,
        of: await recordByHandIn(tx, { requested, currency, author, now, approval: "approved" }),
      };
    case "creditHeldPayment": {
      const decision = { heldId: requested.heldId, state: "credited", author, now } as const;
      return { operation: requested.operation, of: await decideHeldPaymentIn(tx, decision, "approved") };
    }
    case "recordPayout": {
      const { operation, idempotencyKey, note, ...values } = requested;
      const payout = { ...values, note: note ?? undefined, idempotencyKey: idempotencyKey ?? undefined };
      const of = await recordPayoutIn(tx, { ...payout, currency, author, now }, "approved");
      return { operation, of, month: requested.month };
    }
    case "payAll": {
      const { operation, idempotencyKey, payments, ...values } = requested;
      const all = { ...values, idempotencyKey: idempotencyKey ?? undefined, currency, author, now };
      return { operation, of: await payAllIn(tx, all, { payments }), month: requested.month };
    }
    case "setApprovalAmount": {
      const { operation, aboveMicros, before } = requested;
      const change = { aboveMicros, before, author, now, approval: "approved" } as const;
      return { operation, of: await setApprovalAmountIn(tx, deps, change) };
    }
    default:
      throw requested satisfies never;
  }
}

/** A request with a key that was recorded meanwhile is done, too. */
function isDone({ of: { outcome } }: AppliedOutcome): boolean {
  return (
    outcome === "set" ||
    outcome === "decided" ||
    outcome === "recorded" ||
    outcome === "recorded-before" ||
    outcome === "paid"
  );
}

/** What the entry of an approved change is about. */
const kindOf = {
  setTerms: "advertiser",
  recordTopUp: "advertiser",
  correctAdvertiser: "advertiser",
  correctPublisher: "bot",
  creditHeldPayment: "advertiser",
  recordPayout: "bot",
  payAll: "payout-run",
  setApprovalAmount: "deployment",
} as const satisfies Record<Requested["operation"], string>;
