import { requireMilliseconds } from "./client-settings.ts";
import type { LeaseStoreOptions } from "./cloudflare-stores.ts";
import type { Run } from "./handler-commits.ts";
import { leasedStore, MAX_REMEMBER_MS } from "./leased-store.ts";
import type { EventStore } from "./memory-store.ts";
import { checkRedis, redisNeeded, requireMethods } from "./store-clients.ts";

export {
  type D1Database,
  type D1Statement,
  type D1Store,
  type DurableObjectNamespace,
  d1Store,
  durableObjectStore,
  HandledEventObject,
} from "./cloudflare-stores.ts";
export type { HandledEvent } from "./leased-store.ts";
export {
  type PostgresConnection,
  type PostgresPool,
  type PostgresStore,
  postgresStore,
} from "./postgres-store.ts";
export { type SqliteStore, sqliteStore } from "./sqlite-store.ts";
export type { SqliteDatabase } from "./sqlite-transactions.ts";

/** The commands of the client `redis` that the store uses; wrap other clients. */
export interface RedisClient {
  set(key: string, value: string, options: { NX?: true; XX?: true; PX: number }): Promise<string | null>;
  get(key: string): Promise<string | null>;
  del(key: string): Promise<unknown>;
  /** Makes each step of a lease atomic. Without it, a lease that is taken over within that step is overwritten. */
  eval?: RedisEval["eval"] | undefined;
}

/** A method: its parameters may be narrower than those of the client. */
interface RedisEval {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

export interface RedisOptions extends LeaseStoreOptions {
  /** Of the keys. */
  readonly prefix?: string | undefined;
}

/** Each is called with the key, the lease of the run, and for `finish` and `renew` the milliseconds that the key is kept. */
const scripts = {
  finish: `local lease = redis.call("get", KEYS[1])
if lease and lease ~= ARGV[1] then return 0 end
redis.call("set", KEYS[1], "handled", "PX", ARGV[2])
return 1`,
  release: `if redis.call("get", KEYS[1]) == ARGV[1] then redis.call("del", KEYS[1]) end`,
  renew: `if redis.call("get", KEYS[1]) == ARGV[1] then redis.call("pexpire", KEYS[1], ARGV[2]) end`,
};

/**
 * Handled events as keys in Redis, for several processes. A process leases the event before it runs the handler, and extends
 * the lease of `leaseMs` (60 s by default) while the handler runs, for at most `maxHandlerMs` (10 minutes by default), so that
 * a slow handler runs once. While an event is leased, other processes' calls for it reject.
 *
 * The handler's effect is not in Redis. The event is handled again, after the lease has expired, if the process crashes
 * between the effect and its key, or cannot reach Redis or is suspended for longer than `leaseMs`. So make the effect
 * idempotent. A handler whose lease another process took over rejects, and stores nothing.
 */
export function redisStore(
  redis: RedisClient,
  {
    prefix = "ad-event:",
    leaseMs = 60_000,
    maxHandlerMs = 600_000,
    rememberMs = 30 * 24 * 3_600_000,
  }: RedisOptions = {},
): EventStore {
  requireMethods(redis, ["set", "get", "del"], redisNeeded);
  requireMilliseconds({ maxHandlerMs });
  requireMilliseconds({ rememberMs }, { max: MAX_REMEMBER_MS });
  const keyOf = ({ eventId }: Run) => prefix + eventId;
  const leaseOf = ({ owner }: Run) => `leased by ${owner}`;
  const call = (script: keyof typeof scripts, run: Run, ...values: number[]) =>
    redis.eval?.(scripts[script], { keys: [keyOf(run)], arguments: [leaseOf(run), ...values.map(String)] });
  const isOurs = async (run: Run) => (await redis.get(keyOf(run))) === leaseOf(run);

  const { once } = leasedStore(
    {
      async claim(run) {
        await checkRedis(redis, prefix);
        if ((await redis.set(keyOf(run), leaseOf(run), { NX: true, PX: leaseMs })) !== null) return "claimed";
        return (await redis.get(keyOf(run))) === "handled" ? "handled" : "leased";
      },
      // A lease that ran out and that nobody took over is still the run's: the effect is there.
      async finish(run) {
        if (redis.eval) return (await call("finish", run, rememberMs)) === 1;
        const condition = (await isOurs(run)) ? { XX: true as const } : { NX: true as const };
        return (await redis.set(keyOf(run), "handled", { ...condition, PX: rememberMs })) !== null;
      },
      async release(run) {
        if (redis.eval) await call("release", run);
        else if (await isOurs(run)) await redis.del(keyOf(run));
      },
      async renew(run) {
        if (redis.eval) await call("renew", run, leaseMs);
        else if (await isOurs(run)) await redis.set(keyOf(run), leaseOf(run), { XX: true, PX: leaseMs });
      },
    },
    { leaseMs, maxHandlerMs: Math.max(leaseMs, maxHandlerMs) },
  );
  return { once };
}
