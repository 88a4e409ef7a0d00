import cors from "@fastify/cors";
import type { Database } from "@intermission/postgres/open-database";
import { unavailabilityOf } from "@intermission/postgres/store-faults";
import { serveApiReference } from "@intermission/server/api-reference";
import { healthRoutes, requireDatabase } from "@intermission/server/health";
import {
  createHttpServer,
  HttpError,
  refuseOtherMethods,
  UNAVAILABLE_RETRY_SECONDS,
} from "@intermission/server/http-server";
import type { Logger } from "@intermission/server/logger";
import { countRequests, isScraped, metricsRegistry, metricsRoutes } from "@intermission/server/metrics";
import { describeFault } from "@intermission/server/parse-request";
import type { SecretBox } from "@intermission/server/secret-box";
import { traceRequests } from "@intermission/server/trace-requests";
import type { AnyRouter } from "@trpc/server";
import { type FastifyTRPCPluginOptions, fastifyTRPCPlugin } from "@trpc/server/adapters/fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Registry } from "prom-client";
import { z } from "zod";
import { botVerbs } from "./bots/operate-bots.ts";
import type { ServedBots } from "./bots/served-bots.ts";
import type { Config } from "./config.ts";
import { identifyCaller, identifyOperator } from "./identify-caller.ts";
import { closeSlowWatches } from "./ledger/close-slow-watches.ts";
import type { LedgerHint } from "./ledger/watch-rewards.ts";
import { statusOf } from "./node-status.ts";
import { plainHttpRoutes } from "./plain-http/routes.ts";
import { appRouter, createOperatorRouter } from "./router.ts";
import { type BotServerOptions, botServers } from "./serve-bot.ts";
import {
  authenticateTelegramUser,
  defaultSignInLimits,
  limitSignIns,
  type SignInLimits,
} from "./telegram-user/sign-in.ts";
import type { Caller, Context } from "./trpc.ts";
import {
  errorBodyOfSurface,
  guardTrpc,
  isOperatorAddress,
  MAX_CALLS_IN_A_BATCH,
  MAX_PROCEDURE_LIST_LENGTH,
  trpcErrorBody,
} from "./trpc-surface.ts";
import { type IntakeMetrics, intakeMetrics } from "./webhook-intake/intake-metrics.ts";
import type { ReceiveWebhook } from "./webhook-intake/receive-webhook.ts";
import { webhookPaths, webhookRoutes } from "./webhook-intake/routes.ts";

export interface AppOptions {
  config: Pick<
    Config,
    "databaseLimits" | "trustProxy" | "hasApiReference" | "metrics" | "tracing" | "miniappOrigin" | "links"
  >;
  /** Of this build. */
  version?: string;
  database: Database;
  bots: ServedBots;
  /** Seals the tokens of the table's bots; undefined: the table cannot be changed here. */
  box: SecretBox | undefined;
  adServiceOf: BotServerOptions["adServiceOf"];
  logger: Logger;
  hint: LedgerHint;
  /** Ends endless responses, so that the server can close. */
  stopping: AbortSignal;
  /** Whether this process is shutting down while it still serves requests. */
  isDraining?: () => boolean;
  /** By default new ones. */
  metrics?: { registry: Registry; intake: IntakeMetrics };
  /** Whether a connection uses the operator's socket in the data folder. */
  isControlSocket?: (socket: object) => boolean;
  signInLimits?: SignInLimits;
  /** What `/readyz` says beside "ready". */
  warning?: () => string | undefined;
  now?: () => Date;
  /** How long the reader of a watch may take nothing. */
  maxSilentWatchMs?: number;
}

/** All routes of the companion API. */
export function createApp(options: AppOptions): FastifyInstance {
  // tRPC parses inputs itself and takes no message for a fault, so zod's own messages are replaced.
  z.config({ customError: describeFault });
  const { config, database, bots, logger, isControlSocket = () => false, now = () => new Date() } = options;
  const isOperator = (request: FastifyRequest) => isControlSocket(request.raw.socket);
  const app = openServer(options, isOperator);
  const { registry, intake: counted } = options.metrics ?? newMetrics("test");
  const intake = isScraped(config.metrics) ? counted : { ...counted, measured: (receive: ReceiveWebhook) => receive };
  if (isScraped(config.metrics)) countRequests(app, registry);
  // Webhooks go on with the trace of the click or view that earned them.
  if (config.tracing !== undefined) traceRequests(app, { continuedRoutes: webhookPaths });

  healthRoutes(app, {
    check: () => requireDatabase(database),
    warning: options.warning,
    isStopping: options.isDraining,
    version: options.version,
    withinMs: config.databaseLimits.silentMs,
    registry,
  });
  if (config.metrics.token !== undefined) metricsRoutes(app, { registry, token: config.metrics.token });
  const { adServiceOf, hint, stopping } = options;
  const servers = botServers({ database, adServiceOf, links: config.links, logger, hint, intake, stopping });
  app.addHook("onClose", () =>
    servers.flush().catch((error) => logger.warn({ err: error }, "counts could not be written and are lost")),
  );
  webhookRoutes(app, now, (botId) => {
    const bot = botId === undefined ? bots.configured : bots.get(botId);
    return bot && servers.of(bot);
  });

  // A caller that can open the socket can also open the store beside it.
  const callerOf = (request: FastifyRequest) =>
    isOperator(request)
      ? identifyOperator(request.headers["x-bot-id"], bots)
      : identifyCaller(request.headers.authorization, bots, now());
  const contextOf = contextsOf(options, servers);
  const trpcContextOf = (request: FastifyRequest) => contextOf(callerOf(request), request);
  if (config.hasApiReference) {
    const documents = [{ title: "Companion API", path: "/openapi.json" }];
    serveApiReference(app, { title: "Intermission: companion API", documents });
  }
  plainHttpRoutes(app, { router: appRouter, contextOf: trpcContextOf });
  closeSlowWatches(app, { maxSilentMs: options.maxSilentWatchMs });
  app.register(
    async (scope) => {
      // The mini-app's page is the only page that may call from a browser; it sends its token in a header, no cookies.
      guardTrpc(scope, { origin: config.miniappOrigin });
      await scope.register(cors, {
        origin: config.miniappOrigin,
        methods: ["GET", "POST"],
        allowedHeaders: ["authorization", "content-type"],
        maxAge: 600,
      });
      await scope.register(fastifyTRPCPlugin, { trpcOptions: trpcOptionsOf(appRouter, trpcContextOf, logger) });
    },
    { prefix: "/trpc" },
  );
  const operatorRouter = createOperatorRouter({
    ...botVerbs({ database, box: options.box, configured: bots.configured, onChange: () => bots.refresh() }),
    status: () => statusOf(database, options.version),
  });
  app.register(
    async (scope) => {
      const ofNoBot = (request: FastifyRequest) =>
        contextOf({ kind: "anonymous", refusal: "this procedure is of no bot" }, request);
      await scope.register(fastifyTRPCPlugin, { trpcOptions: trpcOptionsOf(operatorRouter, ofNoBot, logger) });
    },
    { prefix: "/operator" },
  );
  app.after(() => refuseOtherMethods(app));
  return app;
}

const OVERVIEW =
  "this is a companion API: its procedures are at /trpc and /v1 (described at /docs), webhooks at /webhooks/ads; mini-app and console are at the ad service's address";

/** The operator's paths exist for the operator alone: to others there is nothing, whatever the method and the rest of the path. */
function openServer({ config, logger }: AppOptions, isOperator: (request: FastifyRequest) => boolean): FastifyInstance {
  const app = createHttpServer({
    logger,
    trustProxy: config.trustProxy,
    unavailabilityOf,
    maxParamLength: MAX_PROCEDURE_LIST_LENGTH,
    overview: OVERVIEW,
    errorBodyFor: (request, error) =>
      isOperatorAddress(request.url) && isOperator(request) ? trpcErrorBody(error) : errorBodyOfSurface(request, error),
  });
  app.addHook("onRequest", (request, _reply, done) => {
    const isHidden = isOperatorAddress(request.url) && !isOperator(request);
    done(isHidden ? new HttpError(404, "NOT_FOUND", `there is nothing at this path; ${OVERVIEW}`) : undefined);
  });
  return app;
}

/** What procedures reach: the verbs of the bots that are served, and the sign-in of their users. */
function contextsOf(
  { bots, signInLimits = defaultSignInLimits, now = () => new Date() }: AppOptions,
  servers: ReturnType<typeof botServers>,
) {
  const signIns = limitSignIns(signInLimits);
  return (caller: Caller, request: FastifyRequest): Context => ({
    caller,
    address: request.ip,
    ofBot(botId) {
      const bot = bots.get(botId);
      return bot ? servers.of(bot).verbs : servers.ofRemoved(botId);
    },
    signIn(botId, initData, address) {
      const bot = botId === undefined ? bots.configured : bots.get(botId);
      if (bot) return authenticateTelegramUser({ initData, address }, bot, signIns, now());
      const message = botId === undefined ? "name the bot by botId" : `bot ${botId} is not served here`;
      return { outcome: "unknown-bot", message };
    },
    isUnavailable: (error) => unavailabilityOf(error) !== undefined,
  });
}

function trpcOptionsOf<Router extends AnyRouter>(
  router: Router,
  createContext: (request: FastifyRequest) => Context,
  logger: Logger,
) {
  return {
    router,
    createContext: ({ req }) => createContext(req),
    maxBatchSize: MAX_CALLS_IN_A_BATCH,
    onError({ error, path, req }) {
      const facts = { requestId: req.id, path };
      if (error.code === "INTERNAL_SERVER_ERROR") logger.error({ err: error, ...facts }, "procedure failed");
      if (error.code === "SERVICE_UNAVAILABLE" && error.cause) logOutage(logger, error.cause, facts);
    },
    responseMeta({ errors }) {
      if (errors.some(({ code }) => code === "SERVICE_UNAVAILABLE"))
        return { headers: { "retry-after": String(UNAVAILABLE_RETRY_SECONDS) } };
      const refusal = errors.map(({ cause }) => cause).find((cause) => cause instanceof HttpError);
      return refusal === undefined ? {} : { headers: { ...refusal.headers } };
    },
  } satisfies FastifyTRPCPluginOptions<AnyRouter>["trpcOptions"];
}

function logOutage(logger: Logger, cause: Error, facts: { requestId: string; path: string | undefined }): void {
  const unavailability = unavailabilityOf(cause);
  if (unavailability === "commit-unknown") logger.error({ err: cause, ...facts }, "commit failed");
  else logger.warn({ unavailability, reason: cause.message, ...facts }, "procedure temporarily unavailable");
}

/** Per server: tests open several in one process. */
export function newMetrics(version: string): { registry: Registry; intake: IntakeMetrics } {
  const registry = metricsRegistry({ service: "api", version });
  return { registry, intake: intakeMetrics(registry) };
}
