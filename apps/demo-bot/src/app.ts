import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import { healthRoutes } from "@intermission/http-server/health";
import { createHttpServer, HttpError, refuseOtherMethods } from "@intermission/http-server/http-server";
import type { Logger } from "@intermission/http-server/logger";
import type { FastifyInstance } from "fastify";
import { type ChatDeps, chatRoutes } from "./chat/routes.ts";
import type { PublisherApi } from "./publisher-api.ts";
import { whatHappenedRoutes } from "./what-happened/routes.ts";

export interface AppOptions extends ChatDeps {
  readonly logger: Logger;
  readonly api: PublisherApi;
}

const loopbackHost = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

/** All routes of the demo chat. */
export function createApp(options: AppOptions): FastifyInstance {
  const app = createHttpServer({ logger: options.logger });
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    `frame-src ${options.miniappOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  // Whoever can reach this server plays any user: only this machine's own pages may.
  app.addHook("onRequest", async (request, reply) => {
    const { host, origin } = request.headers;
    const isForeign = origin !== undefined && origin !== `http://${host}`;
    if (host === undefined || !loopbackHost.test(host) || isForeign) {
      throw new HttpError(403, "FORBIDDEN", "the demo chat answers its own page only");
    }
    reply.header("content-security-policy", policy);
  });
  healthRoutes(app, { check: async () => {} });
  chatRoutes(app, options);
  whatHappenedRoutes(app, options);
  app.register(fastifyStatic, {
    root: join(import.meta.dirname, "../public"),
    cacheControl: false,
    extensions: ["html"],
  });
  app.after(() => refuseOtherMethods(app));
  return app;
}
