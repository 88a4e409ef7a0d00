/** What a function that `commit()` calls inside of its transaction may return: a promise is none of it. */
export type Synchronous<Written> =
  Written extends PromiseLike<unknown>
    ? "commit() needs a synchronous function: await everything else before, outside of it"
    : Written;

const synchronousNeeded =
  "commit() needs a synchronous function: await everything else before, outside of it, and end a builder's query with run()";

/** A function whose call runs nothing, or not all of it, has a tag of its own. */
function kindOf(write: unknown): string {
  return typeof write === "function" ? {}.toString.call(write).slice(8, -1) : typeof write;
}

/** Throws for an async function or a generator, before a part of it runs. */
export function requireSynchronousFunction(write: unknown): void {
  if (kindOf(write) !== "Function") throw new TypeError(synchronousNeeded);
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

/** Also one of another realm, as in Jest. Of anything else, `then` may run what has not run. */
function isPromise(value: unknown): value is Promise<unknown> {
  return {}.toString.call(value) === "[object Promise]";
}

/** Of a synchronous `write` that returned what runs later: a promise, or a query of a builder, which runs when it is awaited. */
export class LaterWriteError extends TypeError {
  /** Undefined for a query, which must not be awaited: that would run it. */
  readonly later: Promise<unknown> | undefined;
  constructor(written: PromiseLike<unknown>) {
    super(synchronousNeeded);
    this.later = isPromise(written) ? written : undefined;
  }
}

export const connectionNeeded =
  "commit() needs a function that returns its promise and writes through the connection that it gets: (connection) => connection.query(sql, values)";

/** Throws for what would count as done before it has run. */
export function requireConnectionFunction(write: unknown): void {
  if (!["Function", "AsyncFunction"].includes(kindOf(write))) throw new TypeError(connectionNeeded);
}

const MAX_REFUSED = 100;

/**
 * Functions, by their source, that wrote where the transaction cannot take it back. A repeat of the event must not call one
 * again, whereas a right one of the same store goes on.
 */
export class RefusedFunctions {
  readonly #errors = new Map<string, Error>();

  check(write: unknown): void {
    const error = this.#errors.get(String(write));
    if (error) throw error;
  }

  add(write: unknown, error: Error): void {
    if (this.#errors.size < MAX_REFUSED) this.#errors.set(String(write), error);
  }
}
