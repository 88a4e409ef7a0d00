import { readMigrations } from "@intermission/postgres/migrate";

export const migrations = readMigrations(new URL("./migrations/", import.meta.url));
