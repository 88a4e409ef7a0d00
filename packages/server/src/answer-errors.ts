import { randomUUID } from "node:crypto";
import { type IncomingMessage, METHODS, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { GeneralProblem } from "@intermission/operator-api/problems";
import type { Unavailability } from "@intermission/postgres/store-faults";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { giveBackCalls } from "./counted-calls.ts";
import { nearbyPath, shapeOf } from "./nearby-path.ts";

/** The error body of this project's APIs: `{"error":{"code":"UPPER_SNAKE","message":"…","details"?}}`. */
export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly details?: unknown };
}

export function errorBody(code: string, message: string, details?: unknown): ErrorBody {
  return { error: details === undefined ? { code, message } : { code, message, details } };
}

/** Seconds after which a request that was answered 503 may be retried. */
export const UNAVAILABLE_RETRY_SECONDS = 5;

/**
 * Thrown by a route or hook to send this answer, such as 401 from an `onRequest` hook. Expected results of core functions
 * are return values, not errors.
 */
export class HttpError extends Error {
  readonly statusCode: number;
  readonly code: string;
  readonly details: unknown;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    statusCode: number,
    code: string,
    message: string,
    options: { details?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.statusCode = statusCode;
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }
}

/** All methods that Node's parser accepts, except CONNECT, which reaches no route. */
const allMethods = METHODS.filter((method) => method !== "CONNECT");
interface KnownRoutes {
  /** By the pattern of the path. */
  readonly methods: Map<string, Set<string>>;
  readonly shapes: Map<string, RegExp>;
}

const routesOf = new WeakMap<FastifyInstance, KnownRoutes>();

/** Call it before routes are added. */
export function rememberRoutes(app: FastifyInstance): void {
  for (const method of allMethods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const known: KnownRoutes = { methods: new Map(), shapes: new Map() };
  routesOf.set(app, known);
  app.addHook("onRoute", ({ method, url }) => {
    const methods = known.methods.get(url) ?? new Set<string>();
    for (const one of [method].flat()) methods.add(one);
    known.methods.set(url, methods);
    const shape = shapeOf(url);
    if (shape !== undefined) known.shapes.set(url, shape);
  });
}

/** Answers 405 with `Allow` to other methods at known paths. Call it last, on a server made by `createHttpServer`. */
export function refuseOtherMethods(app: FastifyInstance): void {
  for (const [url, methods] of [...(routesOf.get(app)?.methods ?? [])]) {
    const others = allMethods.filter((method) => !methods.has(method));
    if (url.endsWith("*") || others.length === 0) continue;
    const allow = [...methods].sort().join(", ");
    app.route({
      method: others,
      url,
      onRequest: async (request) => {
        // A slash at the end is an empty parameter of the path behind it.
        if (Object.values(Object(request.params)).includes("")) throw notFound(app, request);
        const message = `${request.method} is not allowed here, only ${allow}`;
        throw new HttpError(405, "METHOD_NOT_ALLOWED" satisfies GeneralProblem, message, { headers: { allow } });
      },
      handler: async () => {},
    });
  }
}

/** Sets the headers that every answer has. */
export function setHeaders(response: ServerResponse, requestId: string): void {
  response.setHeader("x-request-id", requestId);
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader("referrer-policy", "no-referrer");
}

/** Answers with a page and returns the reply, or returns undefined so that the error body is sent. */
export type ErrorPage = (request: FastifyRequest, reply: FastifyReply, status: number) => FastifyReply | undefined;

/** An error answer before it is formatted. */
export interface ErrorAnswer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
}

/** How one server answers errors. */
export interface ErrorAnswers {
  /** Returns why an error is temporary, or undefined. Other errors that are not the caller's fault are answered 500. */
  readonly unavailabilityOf: (error: unknown) => Unavailability | undefined;
  /** The body, by the request: an API with its own error format uses it for every error. */
  readonly errorBodyFor: (request: FastifyRequest, error: ErrorAnswer) => object;
}

/** For requests that have no route. */
export function notFound(app: FastifyInstance, { url }: FastifyRequest, overview?: string): HttpError {
  const nearby = nearbyPath(routesOf.get(app)?.shapes ?? new Map(), url);
  const hint = nearby === undefined ? overview : `the nearest one is ${nearby}`;
  return new HttpError(404, "NOT_FOUND", `there is nothing at this path${hint === undefined ? "" : `; ${hint}`}`);
}

const codeOfStatus: Record<number, GeneralProblem> = {
  400: "BAD_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  408: "REQUEST_TIMEOUT",
  413: "BODY_TOO_LARGE",
  414: "ADDRESS_TOO_LONG",
  415: "UNSUPPORTED_MEDIA_TYPE",
  429: "TOO_MANY_REQUESTS",
  503: "UNAVAILABLE",
};

export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { unavailabilityOf, errorBodyFor }: ErrorAnswers,
): void {
  const answer = (refusal: ErrorAnswer) => reply.code(refusal.status).send(errorBodyFor(request, refusal));
  if (error instanceof HttpError) {
    reply.headers(error.headers);
    answer({ status: error.statusCode, code: error.code, message: error.message, details: error.details });
    return;
  }
  const unavailability = unavailabilityOf(error);
  if (unavailability !== undefined) {
    noteUnavailability(request, reply, error, unavailability);
    answer({
      status: 503,
      code: "UNAVAILABLE" satisfies GeneralProblem,
      message: "the service cannot answer now; retry later",
    });
    return;
  }
  const { statusCode = 500, message, code } = error as Partial<FastifyError>;
  if (statusCode < 400 || statusCode >= 500) {
    request.log.error({ err: error, requestId: request.id, route: request.routeOptions?.url }, "a request failed");
    // The id is in the text, too: command lines, logs of deliveries and people pass on the text without the headers.
    const message = `the server failed: its log has the reason, under the request id ${request.id}`;
    answer({ status: 500, code: "INTERNAL" satisfies GeneralProblem, message });
    return;
  }
  // Fastify's own messages are for developers; some quote the body or the address.
  const isJsonFault = error instanceof SyntaxError || code === "FST_ERR_CTP_INVALID_JSON_BODY";
  const words = isJsonFault
    ? "the body is not JSON"
    : (wordsOfFastify[code ?? ""] ?? message ?? "the request is malformed");
  answer({ status: statusCode, code: codeOfStatus[statusCode] ?? "BAD_REQUEST", message: words });
}

/**
 * What each answer 503 of this kind needs, also that of a page: `Retry-After`, calls that are not counted, and one line of the
 * log, without a stack, which would not show the cause.
 */
export function noteUnavailability(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  unavailability: Unavailability,
): void {
  reply.header("retry-after", String(UNAVAILABLE_RETRY_SECONDS));
  giveBackCalls(request, unavailability);
  const facts = { requestId: request.id, route: request.routeOptions?.url, unavailability };
  if (unavailability === "commit-unknown") request.log.error({ ...facts, err: error }, "a commit failed");
  else request.log.warn({ ...facts, reason: reasonOf(error) }, "a request could not be served now");
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}

const unreadable: Record<string, readonly [status: string, code: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    "HEADERS_TOO_LARGE",
    "address and headers exceed 16 KiB",
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["413 Content Too Large", "BODY_TOO_LARGE", "the chunk extensions are too long"],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "REQUEST_TIMEOUT", "the request did not arrive in time"],
};
const notHttp = ["400 Bad Request", "BAD_REQUEST", "the request is not valid HTTP"] as const;

/** In place of messages that quote the request, or leave the next step out. */
const wordsOfFastify: Record<string, string> = {
  FST_ERR_BAD_URL: "the address is not percent-encoded correctly",
  FST_ERR_MAX_PARAM_LENGTH: "a part of the address is too long",
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "this Content-Type is not accepted here: send JSON as Content-Type: application/json",
  FST_ERR_CTP_EMPTY_JSON_BODY: "the body is empty, and Content-Type says that it is JSON: send a JSON object",
};

const tunnel = [
  "405 Method Not Allowed",
  "METHOD_NOT_ALLOWED",
  "this server is not a proxy: CONNECT is not allowed",
] as const;

/** The last request of a connection, and its answer. */
const latestOf = new WeakMap<Socket, { request: IncomingMessage; response: ServerResponse }>();

/** Answers, on the bare socket, requests that Node passes to no route: unreadable ones, and CONNECT. */
export function answerOnSocket(server: Server): void {
  server.on("request", (request, response) => latestOf.set(request.socket, { request, response }));
  server.on("connect", (_request, socket: Socket) => {
    // Node has removed its own error listeners; without one, an error would end the process.
    socket.on("error", () => {});
    sendAndEnd(socket, tunnel);
  });
}

/** Answers bytes that are not a request, and requests that broke off in their body. */
export function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  const latest = latestOf.get(socket);
  const isAnswered = latest?.response.headersSent === true;
  // Send one answer per request: the client would read more bytes as the rest of a begun answer, or as the next answer.
  if (!socket.writable || (isAnswered && !(latest.request.complete && latest.response.writableFinished))) {
    socket.destroy();
    return;
  }
  sendAndEnd(socket, unreadable[error.code ?? ""] ?? notHttp);
}

function sendAndEnd(socket: Socket, [status, code, message]: readonly [string, string, string]): void {
  const body = JSON.stringify(errorBody(code, message));
  const head = `content-type: application/json\r\ncontent-length: ${body.length}\r\nx-request-id: ${randomUUID()}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`);
}
