import { auditRoutes } from "@intermission/operator-api/audit";
import { fieldFault } from "@intermission/operator-api/field-forms";
import type { Database } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { invalidField } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { listAuditEntries } from "./read-entries.ts";

/** Who changed what. There is no route that changes or removes an entry. */
export function auditOperatorRoutes(scope: CheckedScope, { database }: { database: Database }): void {
  serveOperatorRoutes(scope, auditRoutes, {
    async listAuditEntries({ query }) {
      const { from, to } = query;
      if (from !== undefined && to !== undefined && from >= to)
        throw invalidField("from", "must be before the end", fieldFault("END_BEFORE_START"));
      const { rows: entries, next } = await listAuditEntries(database, query);
      return { entries, next };
    },
  });
}
