import type { FastifyInstance } from "fastify";

/** `GET /healthz`: the process lives. `GET /readyz`: it can serve, which `check` shows by resolving within two seconds. */
export function healthRoutes(app: FastifyInstance, { check }: { readonly check: () => Promise<unknown> }): void {
  app.get("/healthz", async (_request, reply) => reply.header("cache-control", "no-store").send({ status: "alive" }));
  app.get("/readyz", async (request, reply) => {
    reply.header("cache-control", "no-store");
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error("the check took longer than 2 s")), 2000);
    });
    try {
      await Promise.race([check(), tooLong]);
      return await reply.send({ status: "ready" });
    } catch (error) {
      request.log.warn({ err: error }, "not ready");
      return await reply.code(503).send({ status: "not-ready" });
    } finally {
      clearTimeout(timer);
    }
  });
}
