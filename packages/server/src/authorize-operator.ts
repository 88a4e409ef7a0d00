import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { HttpError } from "./http-server.ts";

export interface OperatorAuth {
  /** Whether the request came through the socket in the data folder, which only the server's own user can open. */
  isTrusted: (request: FastifyRequest) => boolean;
  /** Without one, only trusted requests reach the operator's API; others get 404. */
  operatorToken: string | undefined;
}

export function authorizeOperator(request: FastifyRequest, { isTrusted, operatorToken }: OperatorAuth): void {
  if (isTrusted(request)) return;
  if (operatorToken === undefined) throw new HttpError(404, "NOT_FOUND", "there is nothing at this path");
  const [, given = ""] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
  if (!timingSafeEqual(hashOf(given), hashOf(operatorToken))) {
    throw new HttpError(401, "UNAUTHORIZED", "the operator's token is missing or wrong; it is OPERATOR_TOKEN", {
      headers: { "www-authenticate": "Bearer" },
    });
  }
}

/** A hash has one length for any input, so that the comparison takes constant time. */
function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
