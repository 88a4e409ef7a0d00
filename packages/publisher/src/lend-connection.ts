import { connectionNeeded, isThenable } from "./commit-writes.ts";

interface Queried {
  // biome-ignore lint/suspicious/noExplicitAny: every signature of every client.
  query(...values: any[]): unknown;
}

/** `begin` does nothing inside of a transaction, and the `commit` that belongs to it would end the whole one. */
const endsTransaction =
  /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i;

/**
 * The connection of a transaction, for a function that must not end it, and only as long as that runs: what a promise that it
 * does not return sends later would belong to nothing, or to another transaction.
 */
function lend<Connection extends Queried>(connection: Connection) {
  const loan = { isOver: false, isUsed: false };
  const query = (...values: Parameters<Connection["query"]>) => {
    if (loan.isOver)
      throw new Error("the connection of commit() was used after its function had ended: return or await every query");
    const [first] = values;
    const text: unknown = typeof first === "object" ? first?.text : first;
    if (typeof text === "string" && endsTransaction.test(text))
      throw new Error(
        `commit() has begun a transaction and ends it: remove "${text.trim().slice(0, 20)}", or use a savepoint`,
      );
    loan.isUsed = true;
    return connection.query(...values);
  };
  const lent = new Proxy(connection, {
    get(target, name) {
      if (name === "query") return query;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { lent, loan };
}

/** Which pool the running function of a `commit()` must not use, in this chain of calls. */
interface Inside {
  readonly pool: object;
  isOver: boolean;
}
interface Chain {
  run<Result>(inside: Inside, call: () => Result): Result;
  getStore(): Inside | undefined;
}

/** Undefined on Node before 20.16 and without Node's modules. Not imported: bundlers for Workers refuse what these lack. */
function newChain(): Chain | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => { AsyncLocalStorage?: new () => Chain } | undefined };
  };
  const { AsyncLocalStorage } = process?.getBuiltinModule?.("node:async_hooks") ?? {};
  return AsyncLocalStorage && new AsyncLocalStorage();
}

const chain = newChain();
const guarded = new WeakSet<object>();

/** Has the pool refuse what a function of `commit()` would write outside of the transaction. */
export function guardPool(pool: Queried & { connect(...values: unknown[]): unknown }): void {
  if (guarded.has(pool)) return;
  if (!chain) return;
  guarded.add(pool);
  for (const name of ["query", "connect"] as const) {
    const own = pool[name];
    const refusing = (...values: unknown[]) => {
      const inside = chain?.getStore();
      if (inside?.pool !== pool || inside.isOver) return own.apply(pool, values);
      throw new TypeError(`${connectionNeeded}; pool.${name}() writes outside of its transaction`);
    };
    // False, and nothing is guarded, for a pool that is frozen.
    Reflect.set(pool, name, refusing);
  }
}

/** Calls the function of a `commit()` with a connection that is its own only meanwhile. */
export async function writeThrough<Connection extends Queried>(
  { connection, pool }: { readonly connection: Connection; readonly pool: object },
  write: (connection: Connection) => unknown,
): Promise<void> {
  const { lent, loan } = lend(connection);
  const inside: Inside = { pool, isOver: false };
  try {
    const written = chain ? chain.run(inside, () => write(lent)) : write(lent);
    if (!isThenable(written)) throw new TypeError(connectionNeeded);
    // A query of a builder runs here.
    await (chain ? chain.run(inside, async () => written) : written);
  } finally {
    loan.isOver = true;
    inside.isOver = true;
  }
  if (!loan.isUsed)
    console.warn(
      "commit() of postgresStore: its function wrote nothing through the connection that it gets; what it writes elsewhere is not in the transaction, and is there twice after a crash",
    );
}
