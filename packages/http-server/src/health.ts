import type { FastifyInstance } from "fastify";

/** Thrown by a check: what an operator has to do before this server can serve. Its message is answered. */
export class NotReady extends Error {
  override readonly name = "NotReady";
}

export interface HealthOptions {
  /** Shows by resolving within two seconds that requests can be served; throws `NotReady` where something is to be done. */
  readonly check: () => Promise<unknown>;
  /** Somebody asked this process to stop: what is under way is served, nothing new should be sent here. */
  readonly isStopping?: (() => boolean) | undefined;
}

/** `GET /healthz`: the process lives. `GET /readyz`: it can serve, and will be there for a while; else 503. */
export function healthRoutes(app: FastifyInstance, { check, isStopping = () => false }: HealthOptions): void {
  app.get("/healthz", async (_request, reply) => reply.header("cache-control", "no-store").send({ status: "alive" }));
  app.get("/readyz", async (request, reply) => {
    reply.header("cache-control", "no-store");
    if (isStopping()) return reply.code(503).send({ status: "stopping" });
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error("the check took longer than 2 s")), 2000);
    });
    try {
      await Promise.race([check(), tooLong]);
      return await reply.send({ status: "ready" });
    } catch (error) {
      request.log.warn({ err: error }, "not ready");
      const reason = error instanceof NotReady ? { reason: error.message } : {};
      return await reply.code(503).send({ status: "not-ready", ...reason });
    } finally {
      clearTimeout(timer);
    }
  });
}
