import { Connection, type Destination } from "./connection.ts";

const IDLE_MS = 30_000;
const MOST_DESTINATIONS = 512;

/** The connections to one address of one origin. The idle ones are a stack: the most recently used is taken first. */
export interface ConnectionPool {
  readonly destination: Destination;
  readonly idle: Connection[];
  readonly inUse: Set<Connection>;
}

export interface ConnectionPools {
  /** The callers limit how many are in use at the same time. */
  to(address: string, endpoint: Omit<Destination, "address">): ConnectionPool;
  close(): Promise<void>;
}

/** A connection for one request: the most recently used idle one, or a new one if none is idle or `isFresh` is set. */
export function takeConnection(pool: ConnectionPool, { isFresh }: { isFresh: boolean }): Connection {
  const connection = (isFresh ? undefined : pool.idle.pop()) ?? new Connection(pool.destination);
  pool.inUse.add(connection);
  return connection;
}

/** Keeps or closes a connection. Only one that ended cleanly may be kept: no byte of one exchange may reach the next. */
export function giveBackConnection(pool: ConnectionPool, connection: Connection, isKept: boolean): void {
  pool.inUse.delete(connection);
  connection.usedAt = performance.now();
  if (isKept) pool.idle.push(connection);
  else void connection.destroy();
}

/** Pools by origin and address. Idle connections are closed, so that their number follows the current traffic. */
export function connectionPools(): ConnectionPools {
  const pools = new Map<string, ConnectionPool>();

  const closeIdle = (idleMs: number, mostPools: number) => {
    const usedBefore = performance.now() - idleMs;
    for (const [key, pool] of pools) {
      if (pools.size <= mostPools) return;
      const firstKept = pool.idle.findIndex(({ usedAt }) => usedAt > usedBefore);
      for (const connection of pool.idle.splice(0, firstKept < 0 ? pool.idle.length : firstKept))
        void connection.destroy();
      if (pool.inUse.size + pool.idle.length === 0) pools.delete(key);
    }
  };
  const timer = setInterval(() => closeIdle(IDLE_MS, 0), IDLE_MS / 2);
  timer.unref();

  return {
    to(address, endpoint) {
      const key = `${endpoint.origin} ${address}`;
      let pool = pools.get(key);
      if (!pool) {
        closeIdle(0, MOST_DESTINATIONS - 1);
        const { origin, isSecure, host, port } = endpoint;
        pool = { destination: { origin, isSecure, host, port, address }, idle: [], inUse: new Set() };
        pools.set(key, pool);
      }
      return pool;
    },
    async close() {
      clearInterval(timer);
      const all = [...pools.values()].flatMap(({ idle, inUse }) => [...idle, ...inUse]);
      pools.clear();
      await Promise.all(all.map((connection) => connection.destroy()));
    },
  };
}
