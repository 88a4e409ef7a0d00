export type { HandledEvent } from "./leased-store.ts";
export {
  type PostgresConnection,
  type PostgresPool,
  type PostgresStore,
  postgresStore,
} from "./postgres-store.ts";
export { type SqliteStore, sqliteStore } from "./sqlite-store.ts";
export type { SqliteDatabase } from "./sqlite-transactions.ts";
