import { type ErrorAnswer, errorBody, HttpError } from "@intermission/server/http-server";
import { type TRPC_ERROR_CODE_KEY, TRPC_ERROR_CODES_BY_KEY } from "@trpc/server/rpc";
import type { FastifyInstance } from "fastify";

/** Calls of one batch, and characters of their joined names; docs/integrate.md tells clients to stay below. */
export const MAX_CALLS_IN_A_BATCH = 100;
export const MAX_PROCEDURE_LIST_LENGTH = 4000;

const codeOfStatus: Record<number, TRPC_ERROR_CODE_KEY> = {
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_SUPPORTED",
  408: "TIMEOUT",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  429: "TOO_MANY_REQUESTS",
  500: "INTERNAL_SERVER_ERROR",
  503: "SERVICE_UNAVAILABLE",
};

const isTrpcAddress = (url: string): boolean => isBelow("/trpc", url);

/** The operator's procedures, which only the socket in the data folder reaches. */
export const isOperatorAddress = (url: string): boolean => isBelow("/operator", url);

function isBelow(prefix: string, url: string): boolean {
  return url.startsWith(prefix) && ["", "/", "?"].includes(url.charAt(prefix.length));
}

/** tRPC's own form, so that its clients also understand refusals before a procedure is reached. */
export function trpcErrorBody({ status, message }: ErrorAnswer): object {
  const code = codeOfStatus[status] ?? "BAD_REQUEST";
  return { error: { message, code: TRPC_ERROR_CODES_BY_KEY[code], data: { code, httpStatus: status } } };
}

/** The error body of the surface that a request calls. */
export function errorBodyOfSurface({ url }: { readonly url: string }, error: ErrorAnswer): object {
  return isTrpcAddress(url) ? trpcErrorBody(error) : errorBody(error.code, error.message, error.details);
}

/**
 * Refuses requests on which tRPC's adapter would fail or answer in another form. Runs before CORS, which answers
 * preflights itself.
 */
export function guardTrpc(scope: FastifyInstance, { origin }: { origin: string }): void {
  scope.addHook("onRequest", async (request) => {
    if (request.method === "OPTIONS") refusePreflight(request.headers, origin);
    else if (!["GET", "HEAD", "POST"].includes(request.method)) {
      const message = `${request.method} is not allowed here, only GET and POST`;
      throw new HttpError(405, "METHOD_NOT_ALLOWED", message, { headers: { allow: "GET, HEAD, POST, OPTIONS" } });
    }
  });
  // tRPC sets no content type when it refuses a request before reading it.
  scope.addHook("onSend", async (_request, _reply, payload) => {
    const isUntyped = payload instanceof Response && payload.headers.get("content-type")?.startsWith("text/plain");
    if (isUntyped) payload.headers.set("content-type", "application/json");
    return payload;
  });
}

function refusePreflight(headers: Record<string, unknown>, allowed: string): void {
  if (headers.origin === undefined || headers["access-control-request-method"] === undefined) {
    throw new HttpError(
      400,
      "BAD_REQUEST",
      "OPTIONS is for preflights: Origin and Access-Control-Request-Method are needed",
    );
  }
  if (headers.origin !== allowed)
    throw new HttpError(403, "FORBIDDEN", "only the mini-app's page may call from a browser");
}
