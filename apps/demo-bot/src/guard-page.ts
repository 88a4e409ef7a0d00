import { HttpError } from "@intermission/http-server/http-server";
import type { FastifyInstance } from "fastify";

const loopbackHost = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

/**
 * Whoever can speak to this server plays any user. So it answers only to this machine's own names (a foreign name that
 * resolves here is refused) and only to its own page, which may load nothing from elsewhere but frame the mini-app.
 */
export function guardPage(app: FastifyInstance, miniappOrigin: string): void {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    `frame-src ${miniappOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  app.addHook("onRequest", async (request, reply) => {
    const { host, origin } = request.headers;
    const isForeignPage = origin !== undefined && origin !== `http://${host}`;
    if (host === undefined || !loopbackHost.test(host) || isForeignPage) {
      throw new HttpError(403, "FORBIDDEN", "the demo chat answers its own page only");
    }
    reply.header("content-security-policy", policy);
    reply.header("cross-origin-resource-policy", "same-origin");
  });
}
