import { buildConnector, Pool } from "undici";
import { isSameAddress } from "./address-guard.ts";
import { OutgoingFailure } from "./outgoing-failure.ts";

const MOST_POOLS = 512;
const IDLE_MS = 30_000;
/** Closes what a request that gave up left behind; the request has its own, shorter clock. */
const LONGEST_CONNECT_MS = 10_000;
const CONNECTIONS_PER_POOL = 256;
const LARGEST_HEADERS = 16 * 1024;

export interface ConnectionPools {
  /** The pool of connections to exactly this address, for this origin. Call `release` when the exchange is over. */
  borrow(origin: string, address: string): { pool: Pool; release(): void };
  close(): Promise<void>;
}

interface Entry {
  readonly pool: Pool;
  borrowed: number;
  lastUsed: number;
}

/** One undici pool for each origin and address. Idle ones are closed, so that their number follows what is being sent to. */
export function connectionPools(): ConnectionPools {
  const entries = new Map<string, Entry>();

  const closeIdle = (idleMs: number, keep: number) => {
    for (const [key, entry] of entries) {
      if (entries.size <= keep) return;
      if (entry.borrowed > 0 || performance.now() - entry.lastUsed < idleMs) continue;
      entries.delete(key);
      void entry.pool.close();
    }
  };
  const timer = setInterval(() => closeIdle(IDLE_MS, 0), IDLE_MS / 2);
  timer.unref();

  return {
    borrow(origin, address) {
      const key = `${origin} ${address}`;
      let entry = entries.get(key);
      if (!entry) {
        closeIdle(0, MOST_POOLS - 1);
        entry = { pool: openPool(origin, address), borrowed: 0, lastUsed: 0 };
        entries.set(key, entry);
      }
      const borrowed = entry;
      borrowed.borrowed += 1;
      return {
        pool: borrowed.pool,
        release() {
          borrowed.borrowed -= 1;
          borrowed.lastUsed = performance.now();
        },
      };
    },
    async close() {
      clearInterval(timer);
      await Promise.all([...entries.values()].map(({ pool }) => pool.destroy()));
      entries.clear();
    },
  };
}

function openPool(origin: string, address: string): Pool {
  const connect = buildConnector({ allowH2: false, timeout: LONGEST_CONNECT_MS, maxCachedSessions: 8 });
  return new Pool(origin, {
    connections: CONNECTIONS_PER_POOL,
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: LARGEST_HEADERS,
    // One deadline rules the whole exchange: these two would not see a trickled body or endless interim answers.
    headersTimeout: 0,
    bodyTimeout: 0,
    // The name stays in `host` and `servername` (Host header, SNI, certificate); only the address is connected to.
    connect: (options, callback) =>
      connect({ ...options, hostname: address }, (...[error, socket]) => {
        if (error) return callback(error, null);
        if (isSameAddress(address, socket.remoteAddress)) return callback(null, socket);
        socket.destroy();
        callback(
          new OutgoingFailure("blocked-address", `connected to ${socket.remoteAddress} instead of ${address}`),
          null,
        );
      }),
  });
}
