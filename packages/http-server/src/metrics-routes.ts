import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Registry } from "prom-client";
import { HttpError } from "./http-server.ts";

/**
 * `GET /metrics` in Prometheus' text form. With a token only for who sends it as `Authorization: Bearer …`; without one the
 * caller has to see to it that strangers cannot reach this app.
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
  // Digests have one length, whatever was sent.
  if (timingSafeEqual(digestOf(given), digestOf(token))) return;
  throw new HttpError(401, "UNAUTHORIZED", "the token is missing or wrong; it is METRICS_TOKEN", {
    headers: { "www-authenticate": "Bearer" },
  });
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
