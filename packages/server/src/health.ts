import type { Database } from "@intermission/postgres/open-database";
import { probeWrites } from "@intermission/postgres/probe-writes";
import type { FastifyInstance } from "fastify";
import { Gauge, type Registry } from "prom-client";

/** Thrown by a requirement. The message tells the operator what to do before this server can serve; `/readyz` returns it. */
export class NotReady extends Error {
  override readonly name = "NotReady";
}

const fullDisk = "the disk of the database is full: free some space there, and writes go on by themselves";
/** Faults of a write that the operator repairs, by SQLSTATE. */
const reasons: Readonly<Record<string, string>> = {
  "25006":
    "the database is read-only: it is a standby, or its server or provider has set default_transaction_read_only, as where its disk is almost full; repair that there",
  "53100": fullDisk,
};

/** Less than `withinMs` of the routes: a database that does not answer while its disk is full is told with that reason. */
const PROBE_MS = 1500;

/**
 * A check of `/readyz`: the store takes writes. Some services make it read-only when its disk is almost full, and a standby is
 * so until it is promoted: then every request that writes is answered 503.
 */
export async function requireDatabase(database: Pick<Database, "run" | "transaction" | "disk">): Promise<void> {
  try {
    await within(PROBE_MS, probeWrites(database));
  } catch (error) {
    const ofCode = error instanceof Error && "code" in error ? reasons[String(error.code)] : undefined;
    const reason = ofCode ?? (database.disk.isFull ? fullDisk : undefined);
    if (reason === undefined) throw error;
    throw new NotReady(reason, { cause: error });
  }
}

interface HealthOptions {
  /** Resolves when requests can be served. */
  readonly check: () => Promise<unknown>;
  /** A further condition of `/readyz`; throws `NotReady` where the operator has to act, since a restart would not help. */
  readonly requirement?: (() => Promise<unknown>) | undefined;
  /** What the operator should look at although this server can serve; `/readyz` returns it. */
  readonly warning?: (() => string | undefined) | undefined;
  /** This process has received a stop signal: it finishes requests under way and should receive no new ones. */
  readonly isStopping?: (() => boolean) | undefined;
  /** `/readyz` answers 503 if a check takes longer; 2 s by default, so that a load balancer switches to another node soon. */
  readonly withinMs?: number | undefined;
  /** Of this build; each answer of `/readyz` names it. */
  readonly version?: string | undefined;
  /** For so long a check is not repeated; a second by default. */
  readonly freshMs?: number | undefined;
  /** Gets gauges of the same, so that an alert needs no request that fails. */
  readonly registry?: Registry | undefined;
}

/**
 * `GET /healthz`: the process works; a database that does not answer is no reason to restart it, since a restart would lose
 * the requests under way and repair nothing. `GET /readyz`: it can serve requests and is not stopping. Otherwise
 * 503. Each answer of a server that is stopping closes its connection, so that clients with open connections move to other
 * nodes too: of connections that are still used when the server ends, requests under way would be lost.
 */
export function healthRoutes(
  app: FastifyInstance,
  {
    check,
    requirement = async () => {},
    warning = () => undefined,
    isStopping = () => false,
    withinMs = 2000,
    freshMs = 1000,
    version,
    registry,
  }: HealthOptions,
): void {
  let last: { readonly result: Promise<unknown>; endedAt: number } | undefined;
  /** Requests share a check for a second, so that many are cheap, and none queue up at a store that does not answer. */
  const checkOnce = () => {
    if (last !== undefined && performance.now() < last.endedAt + freshMs) return last.result;
    const result = check();
    const one = { result, endedAt: Number.POSITIVE_INFINITY };
    const end = () => {
      one.endedAt = performance.now();
    };
    result.then(end, end);
    last = one;
    return result;
  };
  const findFault = async () => (await faultWithin(checkOnce, withinMs)) ?? (await faultWithin(requirement, withinMs));
  if (registry !== undefined) healthMetrics(registry, { findFault, warning });
  // Of all requests that come, also where no hook runs: unreadable addresses, answers that their handlers write themselves.
  app.server.prependListener("request", (_request, response) => {
    if (isStopping()) response.shouldKeepAlive = false;
  });
  // Of those that came before.
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (isStopping()) reply.header("connection", "close");
    done(null, payload);
  });
  app.get("/healthz", async (_request, reply) => {
    reply.header("cache-control", "no-store");
    return reply.send({ status: "alive" });
  });
  app.get("/readyz", async (request, reply) => {
    reply.header("cache-control", "no-store");
    if (isStopping()) return reply.code(503).send({ status: "stopping", version });
    const fault = await findFault();
    const warned = warning();
    if (fault === undefined)
      return reply.send({ status: "ready", version, ...(warned !== undefined && { warning: warned }) });
    request.log.warn({ err: fault }, "not ready");
    const reason = fault instanceof NotReady ? { reason: fault.message } : {};
    return reply.code(503).send({ status: "not-ready", version, ...reason });
  });
}

function healthMetrics(
  registry: Registry,
  { findFault, warning }: { findFault: () => Promise<unknown>; warning: () => string | undefined },
): void {
  new Gauge({
    name: "intermission_ready",
    help: "1 while /readyz would answer 200.",
    registers: [registry],
    async collect() {
      this.set((await findFault()) === undefined ? 1 : 0);
    },
  });
  new Gauge({
    name: "intermission_ready_warning",
    help: "1 while /readyz has a warning.",
    registers: [registry],
    collect() {
      this.set(warning() === undefined ? 0 : 1);
    },
  });
}

async function faultWithin(check: () => Promise<unknown>, milliseconds: number): Promise<unknown> {
  try {
    await within(milliseconds, check());
    return undefined;
  } catch (error) {
    return error;
  }
}

async function within(milliseconds: number, check: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the check took longer than ${milliseconds / 1000} s`)), milliseconds);
  });
  try {
    await Promise.race([check, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}
