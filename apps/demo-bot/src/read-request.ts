import { telegramId } from "@intermission/ad-core/wire-fields";
import { parseRequest } from "@intermission/server/parse-request";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";

const userParams = z.object({ userId: telegramId });

/** The Telegram user whom the path names. */
export function userOf({ params }: FastifyRequest): string {
  return parseRequest(userParams, params).userId;
}

/** Leaves the bodies of a scope's requests as the bytes that were sent. */
export function readBytes(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
}

/** The policy of a page that only this server's own page may frame. */
export function framedBySelf(page: Response): string {
  const policy = page.headers.get("content-security-policy") ?? "default-src 'none'";
  return policy.replace(/frame-ancestors [^;]*/, "frame-ancestors 'self'");
}
