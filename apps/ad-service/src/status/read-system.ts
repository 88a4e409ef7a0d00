import type { System } from "@intermission/operator-api/status";
import type { Database, Statement } from "@intermission/postgres/open-database";
import { listNodes } from "./nodes.ts";

// Unnamed, since they run rarely. Over their partial indexes: each counts what waits, and is small on a healthy system.
const readQueues: Statement<System["queues"]> = {
  name: "",
  text: `select (select count(*)::integer from deliveries where state = 'waiting') as "waitingWebhooks",
     (select min(due_at) from deliveries where state = 'waiting') as "oldestWebhookDueAt",
     (select count(*)::integer from deliveries where state = 'held') as "heldWebhooks",
     (select count(*)::integer from views_due where due_at < now()) as "dueViews",
     (select count(*)::integer from tracker_calls where finished_at is null) as "waitingTrackerCalls",
     (select count(*)::integer from notices) as "waitingNotices"`,
};
const readProgress: Statement<System["progress"][number]> = {
  name: "",
  text: `select 'statistics' as what, case when isfinite(min(counted_until)) then min(counted_until) end as until from stats_progress
   union all
   select 'money', case when isfinite(min(settled_until)) then min(settled_until) end from money_progress`,
};

/** The nodes, the queues, and how far statistics and money have counted, of the whole deployment. */
export async function readSystem(database: Pick<Database, "run">): Promise<Omit<System, "settings">> {
  const [queues] = await database.run(readQueues, []);
  if (queues === undefined) throw new Error("the queues were not counted");
  return { nodes: await listNodes(database), queues, progress: await database.run(readProgress, []) };
}
