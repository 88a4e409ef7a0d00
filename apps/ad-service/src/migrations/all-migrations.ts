import type { Migrations } from "@intermission/postgres/migrate";
import { migration as tables } from "./0001-tables.ts";
import { migration as endpoints } from "./0002-endpoints.ts";

export const allMigrations: Migrations = { "0001-tables": tables, "0002-endpoints": endpoints };
