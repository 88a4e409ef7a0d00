import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { type Approval, askApproval, readApprovalAmount, type Withheld } from "./ask-approval.ts";

const lock = statement<never>("approvals.lock-amount", "select from deployment for update");
const write = statement<{ currency: string }>(
  "approvals.write-amount",
  "update deployment set approval_above_micros = $1 returning currency",
);
// Unnamed, since an owner runs it rarely.
const countOwners: Statement<{ owners: number }> = {
  name: "",
  text: `select count(*)::integer as owners from people
   where role = 'owner' and not is_disabled and (password_hash is not null
     or exists (select from person_passkeys where person_passkeys.person_id = people.person_id)
     or exists (select from person_identities where person_identities.person_id = people.person_id))`,
};

export type ApprovalAmountOutcome =
  | { outcome: "set" }
  | Withheld
  /** Fewer than two owners may sign in: nobody could approve, or lower the protection. */
  | { outcome: "owners-needed" }
  | { outcome: "changed-since" };

interface ApprovalAmountChange {
  aboveMicros: number | null;
  author?: Author | undefined;
  now: Date;
  /** Of an approved request: the amount that it raises. */
  before?: number | null | undefined;
}

interface ApprovalsAlert {
  cause: "approvals-changed";
  objectId: string;
  facts: Record<"before" | "after", string>;
  advertiserId: null;
  botId: null;
}
/** Notifies people in the transaction. */
export type TellApprovals = (tx: Transaction, alerts: readonly ApprovalsAlert[], now: Date) => Promise<void>;

export interface ApprovalAmountDeps {
  tell: TellApprovals;
  /** An amount as people are told of it; null: none. */
  amountText: (micros: number | null) => string;
}

/** Sets the amount, and tells those whom it protects. A higher one, or none, waits for a second owner. */
export function setApprovalAmount(
  { database, ...deps }: ApprovalAmountDeps & { database: Database },
  change: ApprovalAmountChange,
): Promise<ApprovalAmountOutcome> {
  return database.transaction((tx) => setApprovalAmountIn(tx, deps, { ...change, approval: "asks" }));
}

export async function setApprovalAmountIn(
  tx: Transaction,
  { tell, amountText }: ApprovalAmountDeps,
  { aboveMicros, author, now, approval, before: expected }: ApprovalAmountChange & { approval: Approval },
): Promise<ApprovalAmountOutcome> {
  const objectId = "approvals";
  const change = await openChange(tx, author, objectId);
  await tx.run(lock, []);
  const before = await readApprovalAmount(tx);
  if (expected !== undefined && expected !== before) return { outcome: "changed-since" };
  if (before === aboveMicros) return { outcome: "set" };
  if (before === null && ((await tx.run(countOwners, []))[0]?.owners ?? 0) < 2) return { outcome: "owners-needed" };
  const isLowering = before !== null && (aboveMicros === null || aboveMicros > before);
  if (isLowering && approval === "asks") {
    const requested = { operation: "setApprovalAmount", aboveMicros, before } as const;
    return askApproval(tx, {
      requested,
      objectId,
      amountMicros: null,
      key: { text: objectId, isCallers: false },
      author,
    });
  }
  // Else an amount that protects nothing would be answered as set.
  if ((await tx.run(write, [aboveMicros])).length === 0) throw new Error("this store has no currency yet");
  const facts = { before: amountText(before), after: amountText(aboveMicros) };
  await tell(tx, [{ cause: "approvals-changed", objectId: "", facts, advertiserId: null, botId: null }], now);
  await audit(tx, change);
  return { outcome: "set" };
}
