import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { Logger } from "./logger.ts";

export interface HttpServerOptions {
  readonly logger: Logger;
  /** As in Fastify: which proxies may name the client's address. */
  readonly trustProxy?: boolean | string | string[] | undefined;
  /** Bytes of a body; 64 KiB by default. */
  readonly bodyLimit?: number | undefined;
  /** For a request to arrive whole; 30 s by default. */
  readonly requestTimeoutMs?: number | undefined;
}

/** The error body of this project's APIs: `{"error":{"code":"UPPER_SNAKE","message":"…","details"?}}`. */
export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly details?: unknown };
}

export function errorBody(code: string, message: string, details?: unknown): ErrorBody {
  return { error: details === undefined ? { code, message } : { code, message, details } };
}

/**
 * Thrown by a route for an answer that its transport maps itself, such as 401 from an `onRequest` hook. Expected results
 * of verbs are values, not this.
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

const requestIdPattern = /^[A-Za-z0-9_-]{8,64}$/;

/**
 * A Fastify server with this project's habits: each answer has `X-Request-Id`, `nosniff` and no referrer; every error,
 * for unknown paths, wrong methods, malformed, oversized and unreadable requests and crashes too, has the error body;
 * every wait has a bound; requests are not logged (two lines a request cost 18–57 %), failures are.
 */
export function createHttpServer({
  logger,
  trustProxy = false,
  bodyLimit = 64 * 1024,
  requestTimeoutMs = 30_000,
}: HttpServerOptions): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = logger;
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy,
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    // A connection that never ended would stay with one node for ever, however many there are by now.
    maxRequestsPerSocket: 10_000,
    forceCloseConnections: "idle",
    // What comes on an open connection while we close is served; Fastify's own 503 lacks the error body.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers["x-request-id"];
      return typeof given === "string" && requestIdPattern.test(given) ? given : randomUUID();
    },
    http: {
      // Node would answer without the error body.
      requireHostHeader: false,
      maxHeaderSize: 16 * 1024,
      headersTimeout: Math.min(requestTimeoutMs, 15_000),
      // How late a time-out may be noticed; Node's own 30 s would double it.
      connectionsCheckingInterval: Math.min(requestTimeoutMs / 4, 5000),
    },
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: false },
    frameworkErrors: (error, request, reply) => answerError(error, request, reply),
    clientErrorHandler: answerUnreadable,
  });
  rememberRoutes(app);
  closeUnusedSockets(app);
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.addHook("onRequest", async (request, reply) => {
    setHeaders(reply.raw, request.id);
    if (request.raw.httpVersion === "1.1" && request.headers.host === undefined) {
      throw new HttpError(400, "BAD_REQUEST", "the Host header is missing");
    }
  });
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply));
  app.setNotFoundHandler(answerNotFound);
  return app;
}

/** Browsers and pools connect in advance. Node closes idle connections, but not those that never asked; a stop would wait for them. */
function closeUnusedSockets(app: FastifyInstance): void {
  const unused = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  app.server.on("request", ({ socket }) => unused.delete(socket));
  app.addHook("preClose", async () => {
    for (const socket of unused) if (socket.bytesRead === 0) socket.destroy();
  });
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
const notHttp = ["400 Bad Request", "BAD_REQUEST", "the request is not HTTP that this server understands"] as const;

/** Answers what never became a request, so on the bare socket. */
function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  // An answer that has begun cannot be taken back: more bytes would be read as its body.
  const begun = "_httpMessage" in socket ? (socket._httpMessage as ServerResponse | null) : null;
  if (!socket.writable || begun?.headersSent) {
    socket.destroy();
    return;
  }
  const [status, code, message] = unreadable[error.code ?? ""] ?? notHttp;
  const body = JSON.stringify(errorBody(code, message));
  const head = `content-type: application/json\r\ncontent-length: ${body.length}\r\nx-request-id: ${randomUUID()}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`);
}

function setHeaders(response: ServerResponse, requestId: string): void {
  response.setHeader("x-request-id", requestId);
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader("referrer-policy", "no-referrer");
}

const allMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const routesOf = new WeakMap<FastifyInstance, Map<string, Set<string>>>();

function rememberRoutes(app: FastifyInstance): void {
  const known = new Map<string, Set<string>>();
  routesOf.set(app, known);
  app.addHook("onRoute", ({ method, url }) => {
    const methods = known.get(url) ?? new Set<string>();
    for (const one of [method].flat()) methods.add(one);
    known.set(url, methods);
  });
}

/** Call last, on the server that `createHttpServer` made: a known path asked with another method is answered 405 with `Allow`. */
export function refuseOtherMethods(app: FastifyInstance): void {
  for (const [url, methods] of [...(routesOf.get(app) ?? [])]) {
    const others = allMethods.filter((method) => !methods.has(method));
    if (url.endsWith("*") || others.length === 0) continue;
    const allow = [...methods].sort().join(", ");
    app.route({
      method: others,
      url,
      onRequest: async (request) => {
        const message = `${request.method} is not allowed here, only ${allow}`;
        throw new HttpError(405, "METHOD_NOT_ALLOWED", message, { headers: { allow } });
      },
      handler: async () => {},
    });
  }
}

function answerNotFound(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(404).send(errorBody("NOT_FOUND", "there is nothing at this path"));
}

const codeOfStatus: Record<number, string> = {
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

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  // Errors before routing pass no hook.
  setHeaders(reply.raw, request.id);
  if (error instanceof HttpError) {
    reply
      .code(error.statusCode)
      .headers(error.headers)
      .send(errorBody(error.code, error.message, error.details));
    return;
  }
  const { statusCode = 500, message, code } = error as Partial<FastifyError>;
  if (statusCode < 400 || statusCode >= 500) {
    request.log.error({ err: error, requestId: request.id, route: request.routeOptions?.url }, "a request failed");
    reply.code(500).send(errorBody("INTERNAL", "something failed on our side; quote the X-Request-Id to its operator"));
    return;
  }
  // Fastify's own words are for developers and name no values; only a syntax error of JSON quotes the body.
  const isJsonFault = error instanceof SyntaxError || code === "FST_ERR_CTP_INVALID_JSON_BODY";
  const words = isJsonFault ? "the body is not JSON" : (message ?? "the request is malformed");
  reply.code(statusCode).send(errorBody(codeOfStatus[statusCode] ?? "BAD_REQUEST", words));
}
