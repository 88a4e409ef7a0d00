import type { Migrations } from "@intermission/postgres/migrate";
import { migration as tables } from "./0001-tables.ts";

export const allMigrations: Migrations = { "0001-tables": tables };
