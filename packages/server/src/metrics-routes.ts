import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Registry } from "prom-client";
import { HttpError } from "./http-server.ts";

/**
 * `GET /metrics` in Prometheus' text format. With a token, requests need it as `Authorization: Bearer …`. Without one, the
 * caller must make sure that strangers cannot reach this app.
 */
export function metricsRoutes(app: FastifyInstance, options: { registry: Registry; token: string | undefined }): void {
  const { registry, token } = options;
  app.get("/metrics", async (request, reply) => {
    if (token !== undefined) authorize(request, token);
    return reply
      .header("cache-control", "no-store")
      .type(registry.contentType)
      .send(await registry.metrics());
  });
}

function authorize(request: FastifyRequest, token: string): void {
  const [, given = ""] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
  // `timingSafeEqual` needs equal lengths, which digests have.
  if (timingSafeEqual(digestOf(given), digestOf(token))) return;
  throw new HttpError(401, "UNAUTHORIZED", "the token is missing or wrong: send the value of METRICS_TOKEN", {
    headers: { "www-authenticate": "Bearer" },
  });
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
