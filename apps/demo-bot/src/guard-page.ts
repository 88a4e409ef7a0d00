import { HttpError } from "@intermission/server/http-server";
import type { FastifyInstance } from "fastify";
import { isGamePage } from "./game/game-page.ts";

const loopbackHost = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

/**
 * Any client of this server can act as any user. So it accepts only loopback Host names (which defeats DNS rebinding) and
 * only its own pages, which may load nothing from other origins except the mini-app's frame; the game's page, the ad service's
 * script and frame.
 */
export function guardPage(
  app: FastifyInstance,
  { miniappOrigin, adServiceUrl }: { miniappOrigin: string; adServiceUrl: string },
): void {
  const adService = new URL(adServiceUrl).origin;
  const gamePolicy = [
    "default-src 'none'",
    `script-src 'self' ${adService}`,
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${adService}`,
    `frame-src ${adService}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join("; ");
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    `frame-src ${miniappOrigin} 'self'`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  app.addHook("onRequest", async (request, reply) => {
    const { host, origin } = request.headers;
    const isForeignPage = origin !== undefined && origin !== `http://${host}`;
    if (host === undefined || !loopbackHost.test(host) || isForeignPage) {
      throw new HttpError(403, "FORBIDDEN", "the demo chat only answers requests from its own page");
    }
    reply.header("content-security-policy", isGamePage(request.url) ? gamePolicy : policy);
    reply.header("cross-origin-resource-policy", "same-origin");
  });
}
