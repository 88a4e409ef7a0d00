import pg from "pg";
import type { SilenceWatch } from "./watch-silence.ts";

/** The logger of this package; pino's logger implements it. */
export interface DatabaseLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface DatabaseLimits {
  /** How long a request waits for a new connection, or for a free one of the pool. */
  readonly connectMs: number;
  /** After this time without an answer the database counts as silent, and requests are refused at once. */
  readonly silentMs: number;
  /** A statement is cancelled after this time. */
  readonly statementMs: number;
}

/** The connections to a PostgreSQL server. */
export interface DatabaseStore {
  readonly pool: pg.Pool;
  /** Begins to watch whether the server answers. */
  watch(): SilenceWatch;
  /** Lends a connection without a statement timeout. */
  withoutTimeout<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>;
  /** Called once the tables are migrated. */
  startUpkeep(): void;
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>;
  notify(channel: string, payload: string): Promise<void>;
  close(): Promise<void>;
}

const int8 = 20;

/** Reads `int8` as a number, and throws beyond 2^53. Statements cast sums of money, which pass it, to text or float8. */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: "text" | "binary") =>
    id === int8
      ? parseInt8
      : format === "binary"
        ? pg.types.getTypeParser(id, "binary")
        : pg.types.getTypeParser(id, "text"),
};

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`${text} does not fit a JavaScript number`);
  return value;
}
