import { readFileSync } from "node:fs";
import type { Migrations } from "@intermission/postgres/migrate";

export const migrations: Migrations = {
  "0001-schema": readFileSync(new URL("./schema.sql", import.meta.url), "utf8"),
};
