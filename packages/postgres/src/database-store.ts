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
 * Prepared statements are planned once: planning costs more than running them (measured: 4 of 5 ms for recording a few
 * deliveries). A plan made while a table was empty stays in use after it has grown, so no plan may read a table whole or
 * in order for a join: what is not there to be chosen cannot turn out wrong. What does read whole tables, a report, says
 * so by `set local enable_seqscan`.
 */
export function sessionSettings(schema: string): string {
  return `set search_path to ${schema}; set timezone to 'UTC'; set jit to off;
    set plan_cache_mode to force_generic_plan; set enable_seqscan to off; set enable_mergejoin to off`;
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
