import type { Migrations } from "@intermission/postgres/migrate";
import { migration as tables } from "./migrations/0001-tables.ts";

export const migrations: Migrations = { "0001-tables": tables };
