import { randomBytes } from "node:crypto";
import type { MoneyRequest, Requested } from "@intermission/operator-api/money-requests";
import { type Author, audit, authorOn, openChange } from "@intermission/postgres/audit";
import { statement, type Transaction } from "@intermission/postgres/open-database";
import type { HttpError } from "@intermission/server/http-server";
import { conflict } from "@intermission/server/refuse";
import bs58 from "bs58";

/** What waits for a second person, or was decided: nothing is recorded. */
export interface Withheld {
  outcome: "withheld";
  /** `another-waits`: another request for the same, with other values. `key-reused`: the caller's key is that of another one. */
  why: "requested" | "another-waits" | "decided" | "key-reused";
  requestId: string;
  state: MoneyRequest["state"];
}

export interface Ask {
  requested: Requested;
  /** An advertiser, a bot or a month. */
  objectId: string;
  /** What is compared with the setting. Null: without a limit. */
  amountMicros: number | bigint | null;
  /** Of requests with one key, one waits. What a caller has asked for with a key of its own is never asked for again. */
  key: { text: string; isCallers: boolean };
  author: Author | undefined;
}

/** Of one advertiser, one request for credit waits. */
export const termsKey = (advertiserId: string): Ask["key"] => ({ text: `terms ${advertiserId}`, isCallers: false });

/** Whether a verb records at once what a second person has approved, or asks for the approval if the setting needs one. */
export type Approval = "approved" | "asks";

const read = statement<{ above: string | null }>(
  "approvals.read-amount",
  "select approval_above_micros::text as above from deployment",
);

/** What is more needs a second person. Null: nothing does. */
export async function readApprovalAmount(tx: Pick<Transaction, "run">): Promise<number | null> {
  const above = (await tx.run(read, []))[0]?.above ?? null;
  return above === null ? null : Number(above);
}

const find = statement<Pick<Withheld, "requestId" | "state"> & { isSame: boolean }>(
  "approvals.find-of-key",
  `select request_id as "requestId", state, requested = $2::jsonb as "isSame" from money_requests
   where request_key = $1 and (is_callers_key or state = 'waiting') order by requested_at desc limit 1`,
);
const insert = statement<{ requestId: string }>(
  "approvals.insert-request",
  `insert into money_requests (request_id, operation, object_id, requested, amount_micros, currency, request_key, is_callers_key, requested_by,
     requested_by_name)
   select $1, $3::jsonb ->> 'operation', $2, $3, $4, currency, $5, $6, $7, $8 from deployment
   on conflict do nothing returning request_id as "requestId"`,
);

/** Whether an amount needs a second person. Null: an amount without a limit. */
export async function needsApproval(
  tx: Pick<Transaction, "run">,
  amountMicros: number | bigint | null,
): Promise<boolean> {
  const above = await readApprovalAmount(tx);
  return above !== null && (amountMicros === null || BigInt(amountMicros) > BigInt(above));
}

/** Stores a request where the amount needs a second person. Undefined: it may be recorded at once. */
export async function askIfNeeded(tx: Transaction, ask: Ask): Promise<Withheld | undefined> {
  if (ask.key.isCallers) {
    // Also while the amount is another one: what was asked for with the key still waits, or was decided.
    const before = await requestedBefore(tx, ask.key, JSON.stringify(ask.requested));
    if (before !== undefined) return before;
  }
  return (await needsApproval(tx, ask.amountMicros)) ? askApproval(tx, ask) : undefined;
}

/** Stores a request, once for its key; call it in the transaction that would make the change, in its place. */
export async function askApproval(
  tx: Transaction,
  { requested, objectId, amountMicros, key, author }: Ask,
): Promise<Withheld> {
  const values = JSON.stringify(requested);
  const before = await requestedBefore(tx, key, values);
  if (before !== undefined) return before;
  const requestId = `mrq_${bs58.encode(randomBytes(9))}`;
  const change = await openChange(tx, author && authorOn(author, "money-request"), requestId);
  const person = personOf(author);
  const row = [requestId, objectId, values, amountMicros, key.text, key.isCallers, person?.id, person?.name];
  if ((await tx.run(insert, row)).length > 0) {
    await audit(tx, change);
    return { outcome: "withheld", why: "requested", requestId, state: "waiting" };
  }
  // Another request with the key was committed meanwhile.
  return (await requestedBefore(tx, key, values)) ?? Promise.reject(new Error(`the request of ${key.text} vanished`));
}

async function requestedBefore(tx: Transaction, key: Ask["key"], values: string): Promise<Withheld | undefined> {
  const [found] = await tx.run(find, [key.text, values]);
  if (found === undefined) return undefined;
  const { requestId, state, isSame } = found;
  const of = { outcome: "withheld", requestId, state } as const;
  if (!isSame) return { ...of, why: key.isCallers ? "key-reused" : "another-waits" };
  return { ...of, why: state === "waiting" ? "requested" : "decided" };
}

/** Who stands behind a request. The command line is nobody: its token and its socket name no person. */
export function personOf(author: Author | undefined): { id: string; name: string } | undefined {
  return author?.actor === undefined || author.actor.id === "command-line" ? undefined : author.actor;
}

export function keyReused(): HttpError {
  return conflict(
    "IDEMPOTENCY_KEY_REUSED",
    "a request with this idempotency key was recorded before, with other values",
  );
}

/** What the caller is answered in place of what would have been recorded. */
export function withheldRefusal({ why, requestId, state }: Withheld): HttpError {
  switch (why) {
    case "requested":
      return conflict(
        "APPROVAL_NEEDED",
        `this needs the approval of a second person: ${requestId} waits for it, and nothing is recorded yet; see money requests`,
        { requestId },
      );
    case "another-waits":
      return conflict(
        "ANOTHER_REQUEST_WAITS",
        `${requestId} waits already and asks for other values: approve, refuse or withdraw it before`,
        { requestId },
      );
    case "decided":
      return requestDecided(state);
    case "key-reused":
      return keyReused();
    default:
      throw why satisfies never;
  }
}

/** Of what changed since it was asked for. */
export function requestOutdated(): HttpError {
  const message = "what this request asks for has changed since: refuse it, and let it be asked for again";
  return conflict("REQUEST_OUTDATED", message);
}

export function requestDecided(state: MoneyRequest["state"]): HttpError {
  return conflict("REQUEST_DECIDED", `this request is ${state} already`, { state });
}
