import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from "fastify";
import {
  answerError,
  answerOnSocket,
  answerUnreadable,
  type ErrorAnswers,
  type ErrorPage,
  errorBody,
  HttpError,
  notFound,
  rememberRoutes,
  setHeaders,
} from "./answer-errors.ts";
import { boundBodyTime } from "./bound-body-time.ts";
import { normalizeForwardedFor, type TrustProxy } from "./client-address.ts";
import { finishBodies } from "./finish-bodies.ts";
import { type Logger, RequestLogger } from "./logger.ts";

export {
  type ErrorAnswer,
  type ErrorBody,
  errorBody,
  HttpError,
  noteUnavailability,
  refuseOtherMethods,
  UNAVAILABLE_RETRY_SECONDS,
} from "./answer-errors.ts";

interface HttpServerOptions {
  readonly logger: Logger;
  /** TRUST_PROXY; undefined if it is not set, which is as `false` and warns of requests that a proxy forwarded. */
  readonly trustProxy?: TrustProxy | undefined;
  /** Selects the temporary errors of routes, which are answered 503 with `Retry-After`. */
  readonly unavailabilityOf?: ErrorAnswers["unavailabilityOf"] | undefined;
  /** The body of an error, by its request; `errorBody` by default. */
  readonly errorBodyFor?: ErrorAnswers["errorBodyFor"] | undefined;
  /** An error page for a person at an unknown or malformed address; undefined for a program, which gets the error body. */
  readonly errorPage?: ErrorPage | undefined;
  /** What is where, for a request that has no route and none near it. */
  readonly overview?: string | undefined;
  /** The address that is served instead of a request's, before anything else looks at it. */
  readonly rewriteUrl?: ((url: string) => string) | undefined;
  /** Characters of one part of a path; 200 by default. */
  readonly maxParamLength?: number | undefined;
  /** Bytes of a body; 64 KiB by default. */
  readonly bodyLimit?: number | undefined;
  /** Time for a request to arrive completely; 30 s by default. A route can set another for its body: `config.bodyTimeoutMs`. */
  readonly requestTimeoutMs?: number | undefined;
}

/** For the slowest route: a large file over a slow connection. A silent connection is closed after a minute. */
const MAX_REQUEST_MS = 30 * 60_000;
const requestIdPattern = /^[A-Za-z0-9_-]{8,64}$/;

/**
 * A Fastify server with this project's defaults: each answer has `X-Request-Id`, `nosniff` and no referrer; every error has
 * the error body, also for unknown paths, wrong methods, malformed, oversized and unreadable requests, and crashes; every
 * wait has a time limit; failures are logged, requests are not (two lines per request cost 18–57 %).
 */
export function createHttpServer({
  logger,
  trustProxy,
  unavailabilityOf = () => undefined,
  errorBodyFor = (_request, { code, message, details }) => errorBody(code, message, details),
  errorPage,
  overview,
  rewriteUrl = (url) => url,
  maxParamLength = 200,
  bodyLimit = 64 * 1024,
  requestTimeoutMs = 30_000,
}: HttpServerOptions): FastifyInstance {
  const answers: ErrorAnswers = { unavailabilityOf, errorBodyFor };
  const loggerInstance: FastifyBaseLogger = logger;
  const app = Fastify({
    loggerInstance,
    childLoggerFactory: (parent, bindings, options) => new RequestLogger(parent, bindings, options),
    logController: new LogController({ disableRequestLogging: true }),
    // Hop 0 is the peer that connected to this server.
    trustProxy: typeof trustProxy === "number" ? (_address, hop) => hop < trustProxy : (trustProxy ?? false),
    bodyLimit,
    requestTimeout: MAX_REQUEST_MS,
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    // A connection without a limit would stay with one node forever, even after more nodes were added.
    maxRequestsPerSocket: 10_000,
    forceCloseConnections: "idle",
    // Requests on open connections are served while the server closes; Fastify's own 503 lacks the error body.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: (request) => {
      const requestId = request.headers["x-request-id"];
      return typeof requestId === "string" && requestIdPattern.test(requestId) ? requestId : randomUUID();
    },
    http: {
      // Node's own check would answer without the error body.
      requireHostHeader: false,
      maxHeaderSize: 16 * 1024,
      headersTimeout: Math.min(requestTimeoutMs, 15_000),
      // A timeout is detected this late at most; Node's default of 30 s would double `requestTimeoutMs`.
      connectionsCheckingInterval: Math.min(requestTimeoutMs / 4, 5000),
    },
    routerOptions: { maxParamLength, ignoreTrailingSlash: false },
    rewriteUrl: ({ url = "/" }: IncomingMessage) => rewriteUrl(url),
    frameworkErrors: (error, request, reply) => {
      const { statusCode } = error;
      // No hook runs for errors before routing.
      setHeaders(reply.raw, request.id);
      const isAboutAddress = statusCode === 400 || statusCode === 414;
      if (isAboutAddress && errorPage?.(request, reply, statusCode)) return;
      answerError(error, request, reply, answers);
    },
    clientErrorHandler: answerUnreadable,
  });
  rememberRoutes(app);
  app.decorateRequest("countedCalls", undefined);
  closeUnusedSockets(app);
  boundBodyTime(app, requestTimeoutMs);
  finishBodies(app);
  answerOnSocket(app.server);
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  const warnOfProxy = proxyWarning(logger, trustProxy);
  const hostFault = hostCheck();
  app.addHook("onRequest", (request, reply, done) => {
    setHeaders(reply.raw, request.id);
    normalizeForwardedFor(request.raw.headers);
    warnOfProxy(request);
    const fault = hostFault(request.raw);
    if (fault === undefined) done();
    else done(new HttpError(400, "BAD_REQUEST", fault));
  });
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, answers));
  app.setNotFoundHandler(
    (request, reply) =>
      errorPage?.(request, reply, 404) ?? answerError(notFound(app, request, overview), request, reply, answers),
  );
  return app;
}

/** So many forwarded requests show whether the proxy is one of those that are trusted. */
const MAX_JUDGED_REQUESTS = 100;

/** Warns once: whoever connects to this server directly can send these headers too, and must not fill its log. */
function proxyWarning(logger: Logger, trustProxy: TrustProxy | undefined): (request: FastifyRequest) => void {
  let left = trustProxy === undefined || Array.isArray(trustProxy) ? MAX_JUDGED_REQUESTS : 0;
  return (request) => {
    if (left === 0) return;
    const fault = trustProxy === undefined ? faultWithoutTrust(request) : faultOfList(request);
    if (fault === undefined) return;
    left -= 1;
    if (fault === "none") return;
    left = 0;
    const peer = request.socket.remoteAddress;
    logger.warn(
      { peer },
      `requests come through a proxy, and ${fault}: all of its clients count as one address in limits and fraud checks. ` +
        "Set TRUST_PROXY to the number of proxies in front, such as 1, or to their addresses, and let them send " +
        "X-Forwarded-For; or set it to false if no proxy is in front",
    );
  };
}

function faultWithoutTrust({ headers }: FastifyRequest): string | undefined {
  const isForwarded = ["x-forwarded-for", "forwarded", "x-real-ip"].some((name) => headers[name] !== undefined);
  return isForwarded ? "TRUST_PROXY is not set" : undefined;
}

/** The address of a peer that is not trusted is the client's. A client on the proxy's machine has that address as well. */
function faultOfList({ headers, ip, socket }: FastifyRequest): string | undefined {
  const forwarded = headers["x-forwarded-for"];
  if (forwarded === undefined) return undefined;
  const nearest = String(forwarded).split(",").at(-1)?.trim();
  const isPeer = ip === socket.remoteAddress && nearest !== ip;
  return isPeer ? "TRUST_PROXY does not contain the address that they come from" : "none";
}

/** RFC 9112, 3.2. An invalid host would fail later, where addresses are built from it. */
function hostCheck(): (request: IncomingMessage) => string | undefined {
  // Nearly all requests have the same host, so only a new one is checked.
  let validHost: string | undefined;
  return ({ headers: { host }, httpVersion }) => {
    if (host === undefined && httpVersion === "1.1") return "the Host header is missing";
    if (host !== undefined && host !== validHost && !isHostHeader(host)) return "the Host header is not a host";
    validHost = host;
    return undefined;
  };
}

function isHostHeader(host: string): boolean {
  return !/[\s/?#@\\]/.test(host) && URL.canParse(`http://${host}/`);
}

/** Browsers and pools connect in advance. Node does not close connections without a request, and a stop would wait for them. */
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
