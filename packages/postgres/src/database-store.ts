import pg from "pg";

/** Where the tables lie: what differs between the embedded engine and a server. */
export interface DatabaseStore {
  readonly kind: "embedded" | "server";
  readonly pool: pg.Pool;
  /** Lends a connection whose statements may take their time. */
  withoutTimeout(work: (client: pg.ClientBase) => Promise<void>): Promise<void>;
  /** Called once the tables stand. */
  startUpkeep(): void;
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>;
  notify(channel: string, payload: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * What each session begins with. Set by SQL, because a start-up parameter loses against `?options=` in an address and
 * poolers refuse it.
 *
 * Prepared statements are planned anew each time: a plan made while a table was empty stays in use after it has grown
 * (measured: following links on a fresh database fell to a quarter within 5,000 clicks).
 */
export function sessionSettings(schema: string): string {
  return `set search_path to ${schema}; set timezone to 'UTC'; set plan_cache_mode to force_custom_plan`;
}

const int8 = 20;

/** `int8` as a number: amounts in micros reach nine billion units before it throws. */
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
