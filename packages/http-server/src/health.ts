import type { FastifyInstance } from "fastify";

/** Thrown by a requirement: what an operator has to do before this server can serve. Its message is answered. */
export class NotReady extends Error {
  override readonly name = "NotReady";
}

export interface HealthOptions {
  /** Shows by resolving that requests can be served. */
  readonly check: () => Promise<unknown>;
  /**
   * Whether what `check` asks is a part of this process, as the embedded store is. Where it does not answer, a restart is
   * what helps, and so `/healthz` fails. A database server that is away is none of this process's faults: a restart would
   * cost what is under way and bring nothing, so only `/readyz` fails.
   */
  readonly isPartOfProcess?: boolean | undefined;
  /** What else `/readyz` needs; throws `NotReady` where an operator has something to do. A restart would not help. */
  readonly requirement?: (() => Promise<unknown>) | undefined;
  /** This process was asked to stop: what is under way is served, nothing new should be sent here. */
  readonly isStopping?: (() => boolean) | undefined;
}

/** A load balancer finds another node soon; a process is only given up when its store is silent for longer. */
const READY_WITHIN_MS = 2000;
const ALIVE_WITHIN_MS = 5000;

/** `GET /healthz`: the process works. `GET /readyz`: it can serve, and will be there for a while. Else 503. */
export function healthRoutes(
  app: FastifyInstance,
  { check, isPartOfProcess = false, requirement = async () => {}, isStopping = () => false }: HealthOptions,
): void {
  let running: Promise<unknown> | undefined;
  /** Whoever asks meanwhile waits for the same answer: a store that does not answer gets no queue of questions. */
  const checkOnce = () => {
    running ??= check().finally(() => {
      running = undefined;
    });
    return running;
  };
  app.get("/healthz", async (request, reply) => {
    reply.header("cache-control", "no-store");
    const fault = isPartOfProcess ? await faultWithin(checkOnce, ALIVE_WITHIN_MS) : undefined;
    if (fault === undefined) return reply.send({ status: "alive" });
    request.log.error({ err: fault }, "the store does not answer");
    return reply.code(503).send({ status: "store-does-not-answer" });
  });
  app.get("/readyz", async (request, reply) => {
    reply.header("cache-control", "no-store");
    if (isStopping()) return reply.code(503).send({ status: "stopping" });
    const fault = (await faultWithin(checkOnce, READY_WITHIN_MS)) ?? (await faultWithin(requirement, READY_WITHIN_MS));
    if (fault === undefined) return reply.send({ status: "ready" });
    request.log.warn({ err: fault }, "not ready");
    const reason = fault instanceof NotReady ? { reason: fault.message } : {};
    return reply.code(503).send({ status: "not-ready", ...reason });
  });
}

async function faultWithin(check: () => Promise<unknown>, milliseconds: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the check took longer than ${milliseconds / 1000} s`)), milliseconds);
  });
  try {
    await Promise.race([check(), tooLong]);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    clearTimeout(timer);
  }
}
