import { readMigrations } from "@intermission/postgres/migrate";

/** The first holds the tables, the others the functions. Once a version is released, its files stay as they are. */
export const migrations = readMigrations(new URL("./migrations/", import.meta.url));
