import { readFileSync } from "node:fs";
import type { Migrations } from "@intermission/postgres/migrate";

const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");

/**
 * Run once each, in the order of their names. `schema.sql` shows the whole schema as it is at the first release, the others
 * the functions that decide; from then on a change is a file of its own, `migrations/0005-….sql`, named here, which adds to
 * what stands.
 */
export const migrations: Migrations = {
  "0001-schema": read("./schema.sql"),
  "0002-limit-of-viewer": read("./viewers/limit-of-viewer.sql"),
  "0003-claim-new-events": read("./webhook-delivery/claim-new-events.sql"),
  "0004-follow-links": read("./direct-links/follow-links.sql"),
};
