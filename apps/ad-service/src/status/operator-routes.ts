import { type System, statusRoutes } from "@intermission/operator-api/status";
import { describeStore } from "@intermission/postgres/describe-store";
import type { Database } from "@intermission/postgres/open-database";
import type { ReadReplica } from "@intermission/postgres/read-replica";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import manifest from "../../package.json" with { type: "json" };
import { describeRetention } from "../retention/describe-retention.ts";
import type { Retention } from "../retention/kept-rows.ts";
import { readSystem } from "./read-system.ts";

type Replica = Pick<ReadReplica, "place" | "state">;

export interface StatusOperatorDeps {
  database: Database;
  replica: Replica | undefined;
  retention: Retention;
  /** In force on this server; undefined: the command line opened the store itself. */
  settings?: System["settings"] | undefined;
  now: () => Date;
}

/** Which version answers, on which store, what that keeps, how far its replica of reports is behind, and how all nodes do. */
export function statusOperatorRoutes(
  scope: CheckedScope,
  { database, replica, retention, settings = [], now }: StatusOperatorDeps,
): void {
  serveOperatorRoutes(scope, statusRoutes, {
    async showStatus() {
      const { schema, ...store } = await describeStore(database);
      const kept = await describeRetention(database, { retention, now: now() });
      const reportReplica = replica && describeReplica(replica);
      return { version: manifest.version, schema, store, ...kept, ...(reportReplica && { reportReplica }) };
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
