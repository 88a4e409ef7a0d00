import { statusRoutes } from "@intermission/operator-api/status";
import { describeStore } from "@intermission/postgres/describe-store";
import type { Database } from "@intermission/postgres/open-database";
import type { ReadReplica } from "@intermission/postgres/read-replica";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import manifest from "../../package.json" with { type: "json" };
import { describeRetention } from "../retention/describe-retention.ts";
import type { Retention } from "../retention/kept-rows.ts";

type Replica = Pick<ReadReplica, "place" | "state">;

/** Which version answers, on which store, what that keeps, and how far its replica of reports is behind. */
export function statusOperatorRoutes(
  scope: CheckedScope,
  {
    database,
    replica,
    retention,
    now,
  }: { database: Database; replica: Replica | undefined; retention: Retention; now: () => Date },
): void {
  serveOperatorRoutes(scope, statusRoutes, {
    async showStatus() {
      const { schema, ...store } = await describeStore(database);
      const kept = await describeRetention(database, { retention, now: now() });
      const reportReplica = replica && describeReplica(replica);
      return { version: manifest.version, schema, store, ...kept, ...(reportReplica && { reportReplica }) };
    },
  });
}

function describeReplica({ place, state: read }: Replica) {
  const state = read();
  return {
    server: place,
    state: state.state,
    lagSeconds: state.state === "away" ? null : state.lagSeconds,
    reason: state.state === "away" ? state.reason : null,
  };
}
