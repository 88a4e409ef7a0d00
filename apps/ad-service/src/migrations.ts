import { readFileSync } from "node:fs";
import type { Migrations } from "@intermission/postgres/migrate";

const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");

/**
 * Each runs once, in the order of the names. `schema.sql` holds the whole schema of the first release, the others hold
 * the functions. From then on each change is a file of its own, `migrations/0005-….sql`, which is added here and only
 * adds to the existing schema.
 */
export const migrations: Migrations = {
  "0001-schema": read("./schema.sql"),
  "0002-unfinished-views": read("./ad-selection/unfinished-views.sql"),
  "0003-claim-new-events": read("./deliveries/claim-new-events.sql"),
  "0004-clicks": read("./clicks/click-functions.sql"),
};
