import { statement } from "@intermission/postgres/open-database";
import { findAdvertiserOfKey } from "../advertisers/advertisers.ts";
import { applyFact, lockTask, withFacts } from "./change-task.ts";
import type { TaskDeps } from "./follow-updates.ts";

export type RecordStartOutcome =
  | "recorded"
  /** It was recorded before. */
  | "repeated"
  | "unknown-key"
  /** No task of this code is for a bot of this advertiser's. */
  | "unknown-task"
  /** Nobody has opened it: whoever has the code did not come by the task's button. */
  | "not-opened"
  | "other-user"
  | "joined-before"
  | "over"
  | "too-late"
  | "no-budget";

export interface StartPostback {
  key: string;
  code: string;
  userId: string;
  startedAt: Date;
}

const readOwner = statement<{ advertiserId: string; offeredAt: Date }>(
  "tasks.read-owner",
  `select advertiser_id as "advertiserId", offered_at as "offeredAt" from tasks join campaigns using (campaign_id)
   where code = $1 and start_bot is not null`,
);

/** The advertiser's bot reports that a user has started it with the code of a task. It is paid once. */
export async function recordStart(deps: TaskDeps, postback: StartPostback): Promise<RecordStartOutcome> {
  const { database, deliveries, now } = deps;
  const { key, code, userId } = postback;
  const advertiserId = await findAdvertiserOfKey(database, key);
  if (advertiserId === undefined) return "unknown-key";
  const [owner] = await database.run(readOwner, [code]);
  // The answer is the same for another advertiser's task, so that it does not reveal whether that one exists.
  if (owner?.advertiserId !== advertiserId) return "unknown-task";
  const at = new Date(Math.min(now().getTime(), Math.max(owner.offeredAt.getTime(), postback.startedAt.getTime())));
  const outcome = await withFacts<RecordStartOutcome>(database, async (tx) => {
    const task = await lockTask(tx, code);
    if (task === undefined) return "unknown-task";
    if (task.openedAt === null) return "not-opened";
    if (task.joinedAt !== null) return task.userId === userId ? "repeated" : "other-user";
    const verdict = await applyFact(tx, task, { kind: "joined", userId, at, proof: "postback" }, now());
    if (verdict.outcome === "moves") return wordOf(verdict.voidReason);
    return verdict.reason === "late" ? "too-late" : verdict.reason === "no-budget" ? "no-budget" : "over";
  });
  if (outcome === "recorded") deliveries.wake();
  return outcome;
}

function wordOf(voidReason: string | null): RecordStartOutcome {
  if (voidReason === null) return "recorded";
  return voidReason === "other-user" ? "other-user" : "joined-before";
}
