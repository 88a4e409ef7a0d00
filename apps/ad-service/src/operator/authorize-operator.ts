import { createHash, timingSafeEqual } from "node:crypto";
import { HttpError } from "@intermission/http-server/http-server";
import type { FastifyRequest } from "fastify";

export interface OperatorAuth {
  /** Came by the socket in the data folder, which only the server's own user can open. */
  isTrusted: (request: FastifyRequest) => boolean;
  /** Without one the operator's surface does not exist for everybody else. */
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

/** Of equal length whatever was given, so that the comparison takes equal time. */
function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
