import { telegramPublicKey } from "@intermission/ad-core/telegram-init-data";
import { countRequests } from "@intermission/http-server/count-requests";
import { healthRoutes } from "@intermission/http-server/health";
import { createHttpServer, refuseOtherMethods } from "@intermission/http-server/http-server";
import type { Logger } from "@intermission/http-server/logger";
import { metricsRoutes } from "@intermission/http-server/metrics-routes";
import { unavailabilityOf } from "@intermission/postgres/unavailability";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import type { Registry } from "prom-client";
import { adClickRoutes } from "./ad-clicks/routes.ts";
import type { AdDatabase } from "./ad-database.ts";
import type { CampaignSnapshot } from "./ad-selection/campaign-snapshot.ts";
import { sessionRoutes } from "./ad-sessions/routes.ts";
import type { ViewRecorder } from "./ad-sessions/view-recorder.ts";
import type { SecretBox } from "./bots/secret-box.ts";
import { clientApiRoutes } from "./client-api/routes.ts";
import type { Config } from "./config.ts";
import { conversionRoutes } from "./conversions/routes.ts";
import { openMediaStorage } from "./creatives/open-media-storage.ts";
import { mediaRoutes } from "./creatives/routes.ts";
import { directLinkRoutes } from "./direct-links/routes.ts";
import { errorPage } from "./miniapp-page/error-page.ts";
import { requireBuiltPage } from "./miniapp-page/load-built-page.ts";
import { miniappPageRoutes } from "./miniapp-page/routes.ts";
import { type OperatorDeps, operatorRoutes } from "./operator/routes.ts";
import type { GuardedRequests } from "./outbound/guarded-request.ts";
import { tagFiller } from "./vast/fill-from-tag.ts";
import type { Deliveries } from "./webhook-delivery/deliveries.ts";
import type { EndpointTests } from "./webhook-endpoints/test-endpoint.ts";

export interface AppDeps {
  config: Config;
  logger: Logger;
  database: AdDatabase;
  secretBox: SecretBox;
  campaigns: CampaignSnapshot;
  deliveries: Deliveries;
  views: ViewRecorder;
  endpointTests: EndpointTests;
  requests: GuardedRequests;
  /** Whether a connection uses the operator's socket in the data folder. */
  isControlSocket: (socket: object) => boolean;
  registry: Registry;
  /** Whether this process is shutting down. */
  isStopping?: () => boolean;
  now?: () => Date;
}

export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const {
    config,
    logger,
    database,
    campaigns,
    deliveries,
    views,
    secretBox,
    endpointTests,
    registry,
    isStopping,
    requests,
  } = deps;
  const { now = () => new Date() } = deps;
  const { publicUrl, currency, miniappDir, encryptionKey, demo } = config;
  const telegramPublicKeyFor = (botId: string) => (botId === demo.botId && demo.telegramPublicKey) || telegramPublicKey;
  const app = createHttpServer({ logger, trustProxy: config.trustProxy, unavailabilityOf, errorPage });
  const media = await openMediaStorage(config.media);
  countRequests(app, registry);

  healthRoutes(app, {
    check: () => sql`select 1`.execute(database.query),
    isPartOfProcess: database.kind === "embedded",
    requirement: () => requireBuiltPage(config),
    isStopping,
  });
  if (config.metrics.token !== undefined) metricsRoutes(app, { registry, token: config.metrics.token });
  clientApiRoutes(app, {
    database,
    campaigns,
    deliveries,
    endpointTests,
    rateLimits: config.rateLimits,
    currency,
    publicUrl,
    links: config,
    now,
  });
  const isPlainHttpAllowed = config.mode === "demo";
  const fillFromTag = tagFiller({ database, requests, isPlainHttpAllowed, log: logger, now });
  sessionRoutes(app, { database, views, campaigns, fillFromTag, telegramPublicKeyFor, publicUrl, now });
  adClickRoutes(app, { database, now });
  conversionRoutes(app, { database, now });
  const { mostDailyClicksPerAddress, directLinkUrl } = config;
  directLinkRoutes(app, {
    database,
    campaigns,
    deliveries,
    encryptionKey,
    directLinkUrl,
    mostDailyClicksPerAddress,
    now,
  });
  mediaRoutes(app, { media });
  miniappPageRoutes(app, { database, miniappDir, publicUrl, isPlainHttpAllowed, demoChatOrigin: demo.chatOrigin });
  operatorRoutes(app, {
    database,
    secretBox,
    campaigns,
    deliveries,
    endpointTests,
    requests,
    currency,
    media,
    miniappUrl: config.miniappUrl,
    isPlainHttpAllowed,
    isTrusted: (request) => deps.isControlSocket(request.raw.socket),
    operatorToken: config.operatorToken,
    now,
  });

  await app.after();
  refuseOtherMethods(app);
  return app;
}

/**
 * The operator's routes alone, for a command line that opened the store itself. They need no token: opening the store
 * proves access.
 */
export function createOperatorApp(deps: Omit<OperatorDeps, "isTrusted" | "operatorToken"> & { logger: Logger }) {
  const app = createHttpServer({ logger: deps.logger, unavailabilityOf });
  operatorRoutes(app, { ...deps, isTrusted: () => true, operatorToken: undefined });
  return app;
}
