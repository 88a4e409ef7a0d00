import type { Requested } from "@intermission/operator-api/money-requests";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import type { Database, Transaction } from "@intermission/postgres/open-database";
import { type Approval, askIfNeeded, type Withheld } from "./ask-approval.ts";
import { type Account, advertiserAccount, lockAccount, movement, publisherAccount } from "./ledger.ts";
import { outcomeBefore, type Recorded, type RecordOnceOutcome, recordOnceIn } from "./record-once.ts";

/** A payment of an advertiser or a correction that a person records. */
export type ByHand = Extract<Requested, { operation: "recordTopUp" | "correctAdvertiser" | "correctPublisher" }>;

export interface RecordByHand {
  requested: ByHand;
  currency: string;
  author: Author | undefined;
  now: Date;
}

export type RecordByHandOutcome = RecordOnceOutcome | Withheld;

/** Records it once for its id, on any number of nodes, or asks a second person. */
export function recordByHand(database: Pick<Database, "transaction">, of: RecordByHand): Promise<RecordByHandOutcome> {
  return database.transaction((tx) => recordByHandIn(tx, { ...of, approval: "asks" }));
}

export async function recordByHandIn(
  tx: Transaction,
  { approval, author, ...of }: RecordByHand & { approval: Approval },
): Promise<RecordByHandOutcome> {
  const { requested } = of;
  const { objectId, ...recorded } = recordedOf(of);
  const change = await openChange(tx, author, objectId);
  await lockAccount(tx, recorded.account);
  const before = await outcomeBefore(tx, recorded);
  if (before !== undefined) return before;
  if (approval === "asks") {
    const { amountMicros, transactionId } = requested;
    const key = { text: transactionId, isCallers: true };
    const withheld = await askIfNeeded(tx, { requested, objectId, amountMicros, key, author });
    if (withheld !== undefined) return withheld;
  }
  const outcome = await recordOnceIn(tx, recorded);
  if (outcome.outcome === "recorded") await audit(tx, change);
  return outcome;
}

function recordedOf({ requested, currency, now: at }: Omit<RecordByHand, "author">): Recorded & { objectId: string } {
  const { transactionId, amountMicros } = requested;
  if (requested.operation === "recordTopUp") {
    const account = advertiserAccount(requested.advertiserId);
    const entries = movement({ from: "cash", to: account, amountMicros });
    const { reference, isConfirmed } = requested;
    const made = {
      transactionId,
      kind: "top_up" as const,
      entries,
      currency,
      reference,
      note: requested.note ?? undefined,
    };
    const asksAbout = isConfirmed ? "nothing" : "every-payment";
    return { made: { ...made, at }, account, objectId: requested.advertiserId, asksAbout };
  }
  const { direction, against, note } = requested;
  const [objectId, account] =
    requested.operation === "correctAdvertiser"
      ? [requested.advertiserId, advertiserAccount(requested.advertiserId)]
      : [requested.botId, publisherAccount(requested.botId)];
  const [from, to]: [Account, Account] = direction === "credit" ? [against, account] : [account, against];
  const entries = movement({ from, to, amountMicros });
  const made = { transactionId, kind: "correction" as const, entries, currency, note, at };
  return { made, account, objectId, asksAbout: "nothing" };
}
