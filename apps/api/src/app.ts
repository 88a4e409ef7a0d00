import cors from "@fastify/cors";
import { type Database, statement } from "@intermission/postgres/open-database";
import { unavailabilityOf } from "@intermission/postgres/store-faults";
import { healthRoutes } from "@intermission/server/health";
import {
  createHttpServer,
  errorBody,
  refuseOtherMethods,
  UNAVAILABLE_RETRY_SECONDS,
} from "@intermission/server/http-server";
import type { Logger } from "@intermission/server/logger";
import { countRequests, metricsRegistry, metricsRoutes } from "@intermission/server/metrics";
import { type FastifyTRPCPluginOptions, fastifyTRPCPlugin } from "@trpc/server/adapters/fastify";
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import type { AdServiceClient } from "./codes/ad-service-client.ts";
import { requestCode } from "./codes/request-code.ts";
import type { Config } from "./config.ts";
import { identifyCaller } from "./identify-caller.ts";
import { getBalance, getRewardStatus, listRewards } from "./ledger/rewards.ts";
import { spend } from "./ledger/spend.ts";
import {
  isLedgerCursor,
  type LedgerHint,
  latestCursor,
  limitWatches,
  startOfLedger,
  watchRewards,
} from "./ledger/watch-rewards.ts";
import { createRouter, type Verbs } from "./router.ts";
import {
  authenticateTelegramUser,
  defaultSignInLimits,
  deriveSessionKey,
  limitSignIns,
  type SignInLimits,
} from "./telegram-user/sign-in.ts";
import {
  guardTrpc,
  isTrpcAddress,
  LONGEST_PROCEDURE_LIST,
  MOST_CALLS_IN_A_BATCH,
  trpcErrorBody,
} from "./trpc-surface.ts";
import { eraseUser } from "./users/erase-user.ts";
import {
  countRefusals,
  type IntakeMetrics,
  intakeMetrics,
  type RefusalCounter,
} from "./webhook-intake/intake-metrics.ts";
import { listReceipts, listRefusals } from "./webhook-intake/list-receipts.ts";
import { receiveWebhook } from "./webhook-intake/receive-webhook.ts";
import { webhookRoutes } from "./webhook-intake/routes.ts";

export interface AppOptions {
  config: Config;
  database: Database;
  adService: Pick<AdServiceClient, "createCode">;
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
}

const ping = statement<unknown>("ping", "select 1");

/** All routes of the companion API. */
export function createApp(options: AppOptions): FastifyInstance {
  const { config, database, hint, logger, isControlSocket = () => false } = options;
  const { backendApiKey, telegramBotToken } = config;
  const secrets = { backendApiKey, telegramBotToken, sessionKey: deriveSessionKey(config) };
  const app = createHttpServer({
    ...{ logger, trustProxy: config.trustProxy, unavailabilityOf, maxParamLength: LONGEST_PROCEDURE_LIST },
    errorBodyFor: (url, error) =>
      isTrpcAddress(url) ? trpcErrorBody(error) : errorBody(error.code, error.message, error.details),
  });

  const { registry, intake } = options.metrics ?? newMetrics("test");
  countRequests(app, registry);

  healthRoutes(app, {
    check: () => database.run(ping, []),
    isPartOfProcess: database.kind === "embedded",
    isStopping: options.isDraining,
  });
  if (config.metrics.token !== undefined) metricsRoutes(app, { registry, token: config.metrics.token });
  const { botId, adApiTokens: tokens, payout, twoFieldEvents } = config;
  const refusals = countRefusals(database, botId, logger);
  app.addHook("onClose", () =>
    refusals.flush().catch((error) => logger.warn({ err: error }, "counts could not be written and are lost")),
  );
  const receive = receiveWebhook({
    ...{ database, botId, tokens, payout, twoFieldEvents, onRecorded: hint.announce, onBatch: intake.recorded },
  });
  webhookRoutes(app, intake.measured(receive), intake.alsoCounting(refusals));
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
      await scope.register(fastifyTRPCPlugin, {
        trpcOptions: {
          router: createRouter(verbsOf(options, secrets, refusals, intake)),
          createContext: ({ req }) => ({
            // A caller that can open the socket can also open the store beside it.
            caller: isControlSocket(req.raw.socket)
              ? { kind: "backend" }
              : identifyCaller(req.headers.authorization, secrets, new Date()),
            address: req.ip,
            isUnavailable: (error) => unavailabilityOf(error) !== undefined,
          }),
          maxBatchSize: MOST_CALLS_IN_A_BATCH,
          onError({ error, path }) {
            if (error.code === "INTERNAL_SERVER_ERROR") logger.error({ err: error, path }, "procedure failed");
            if (error.code === "SERVICE_UNAVAILABLE" && error.cause) logOutage(logger, error.cause, path);
          },
          responseMeta: ({ errors }) =>
            errors.some(({ code }) => code === "SERVICE_UNAVAILABLE")
              ? { headers: { "retry-after": String(UNAVAILABLE_RETRY_SECONDS) } }
              : {},
        } satisfies FastifyTRPCPluginOptions<ReturnType<typeof createRouter>>["trpcOptions"],
      });
    },
    { prefix: "/trpc" },
  );
  app.after(() => refuseOtherMethods(app));
  return app;
}

function logOutage(logger: Logger, cause: Error, path: string | undefined): void {
  const unavailability = unavailabilityOf(cause);
  if (unavailability === "commit-unknown") logger.error({ err: cause, path }, "commit failed");
  else logger.warn({ unavailability, reason: cause.message, path }, "procedure temporarily unavailable");
}

/** Per server: tests open several in one process. */
export function newMetrics(version: string): { registry: Registry; intake: IntakeMetrics } {
  const registry = metricsRegistry({ service: "api", version });
  return { registry, intake: intakeMetrics(registry) };
}

function verbsOf(
  { config, database, adService, logger, hint, stopping, signInLimits = defaultSignInLimits }: AppOptions,
  secrets: { telegramBotToken: string; sessionKey: Buffer },
  refusals: RefusalCounter,
  intake: IntakeMetrics,
): Verbs {
  const { botId, links } = config;
  const signIns = limitSignIns(signInLimits);
  const watches = limitWatches();
  const onUnavailable = (facts: object) => logger.warn(facts, "the ad service returned no code");
  return {
    signIn: (initData, address) => authenticateTelegramUser({ initData, address }, secrets, signIns, new Date()),
    createCode: (wanted) => requestCode({ database, adService, botId, links, onUnavailable }, wanted),
    getRewardStatus: (query) => getRewardStatus(database, botId, query),
    listRewards: (query) => listRewards(database, botId, query),
    getBalance: (userId) => getBalance(database, botId, userId),
    eraseUser: (userId, isMeant) => eraseUser(database, { botId, userId, isMeant }),
    async spend(order) {
      const outcome = await spend(database, botId, order);
      hint.announce();
      return outcome;
    },
    isCursor: isLedgerCursor,
    latestCursor: () => latestCursor(database),
    watchRewards: ({ from, includeTests }, signal) =>
      watches(async function* () {
        const start = from === "start" ? startOfLedger : from === "now" ? await latestCursor(database) : from.cursor;
        const until = AbortSignal.any(signal ? [stopping, signal] : [stopping]);
        yield* intake.watched(
          watchRewards(database, botId, { from: start, includeTests }, until, (milliseconds) =>
            hint.wait(milliseconds, until),
          ),
        );
      }),
    listReceipts: (query) => listReceipts(database, botId, query),
    async listRefusals(since) {
      await refusals.flush();
      return listRefusals(database, botId, since);
    },
  };
}
