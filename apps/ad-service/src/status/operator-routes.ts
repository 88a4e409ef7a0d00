import { type System, statusRoutes } from "@intermission/operator-api/status";
import { describeStore } from "@intermission/postgres/describe-store";
import type { Database, Statement } from "@intermission/postgres/open-database";
import type { ReadReplica } from "@intermission/postgres/read-replica";
import { buildVersion } from "@intermission/server/build-identity";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import manifest from "../../package.json" with { type: "json" };
import { describeRetention } from "../retention/describe-retention.ts";
import type { Retention } from "../retention/kept-rows.ts";
import { listNodes } from "./nodes.ts";

type Replica = Pick<ReadReplica, "place" | "state">;

interface StatusOperatorDeps {
  database: Database;
  /** Of this build; by default read when it is asked for. */
  version?: string | undefined;
  replica: Replica | undefined;
  retention: Retention;
  /** In force on this server; undefined: the command line opened the store itself. */
  settings?: System["settings"] | undefined;
  now: () => Date;
}

/** This version, its store and how long that keeps rows, the lag of the reports' replica, and the state of all nodes. */
export function statusOperatorRoutes(
  scope: CheckedScope,
  { database, version, replica, retention, settings = [], now }: StatusOperatorDeps,
): void {
  serveOperatorRoutes(scope, statusRoutes, {
    async showStatus() {
      const { schema, ...store } = await describeStore(database);
      const kept = await describeRetention(database, { retention, now: now() });
      const reportReplica = replica && describeReplica(replica);
      return {
        version: version ?? buildVersion(manifest.version),
        schema,
        store,
        ...kept,
        ...(reportReplica && { reportReplica }),
      };
    },

    async showSystem() {
      return { ...(await readSystem(database)), settings };
    },
  });
}

function describeReplica({ place, state: read }: Replica) {
  const state = read();
  return {
    server: place,
    state: state.state,
    lagSeconds: state.state === "away" || state.lagSeconds === null ? null : Math.round(state.lagSeconds * 10) / 10,
    reason: state.state === "away" ? state.reason : null,
  };
}

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
async function readSystem(database: Pick<Database, "run">): Promise<Omit<System, "settings">> {
  const [queues] = await database.run(readQueues, []);
  if (queues === undefined) throw new Error("the queues were not counted");
  return { nodes: await listNodes(database), queues, progress: await database.run(readProgress, []) };
}
