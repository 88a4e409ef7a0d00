import { statusRoutes } from "@intermission/operator-api/status";
import { describeStore } from "@intermission/postgres/describe-store";
import type { Database } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import manifest from "../../package.json" with { type: "json" };

/** Which version answers, and on which store. */
export function statusOperatorRoutes(scope: CheckedScope, { database }: { database: Database }): void {
  serveOperatorRoutes(scope, statusRoutes, {
    async showStatus() {
      const { schema, ...store } = await describeStore(database);
      return { version: manifest.version, schema, store };
    },
  });
}
