import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { createHttpServer, refuseOtherMethods } from "./http-server.ts";
import type { Logger } from "./logger.ts";
import { metricsRoutes } from "./metrics-routes.ts";

/** Serves `/metrics` on a separate port, if one is set. Close the returned server last, so that the stop can be observed. */
export async function serveMetrics(options: {
  readonly registry: Registry;
  readonly token: string | undefined;
  readonly host: string;
  readonly port: number | undefined;
  readonly logger: Logger;
}): Promise<FastifyInstance | undefined> {
  const { registry, token, host, port, logger } = options;
  if (port === undefined) return undefined;
  const app = createHttpServer({ logger });
  metricsRoutes(app, { registry, token });
  await app.after();
  refuseOtherMethods(app);
  await app.listen({ host, port });
  return app;
}
