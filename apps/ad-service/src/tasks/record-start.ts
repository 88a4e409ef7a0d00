import { statement } from "@intermission/postgres/open-database";
import { findAdvertiserOfKey } from "../advertisers/advertisers.ts";
import { applyFact, lockTask, withFacts } from "./change-task.ts";
import type { TaskDeps } from "./follow-updates.ts";

export type RecordStartOutcome =
  | "recorded"
  /** The start was recorded before. */
  | "repeated"
  | "unknown-key"
  /** The code belongs to no task for a bot of this advertiser. */
  | "unknown-task"
  /** The task was not opened: the user did not come by its button. */
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

/** Records a start that the advertiser's bot reports. A task is paid once. */
export async function recordStart(deps: TaskDeps, postback: StartPostback): Promise<RecordStartOutcome> {
  const { database, deliveries, now } = deps;
  const { key, code, userId } = postback;
  const advertiserId = await findAdvertiserOfKey(database, key);
  if (advertiserId === undefined) return "unknown-key";
  const [owner] = await database.run(readOwner, [code]);
  // Another advertiser's task gets the same answer, so that the answer does not reveal whether the task exists.
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
