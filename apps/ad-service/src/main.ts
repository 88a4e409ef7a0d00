import { clockWarning, followDatabaseClock } from "@intermission/postgres/database-clock";
import { newestMigration } from "@intermission/postgres/migrate";
import { openDatabase } from "@intermission/postgres/open-database";
import { recordingDatabase } from "@intermission/postgres/recorded-changes";
import { isStoreOutage } from "@intermission/postgres/store-faults";
import { markAbandonedStore, requireStoreInUse } from "@intermission/server/abandoned-store";
import { requireDataFolder } from "@intermission/server/data-folder";
import { exitAfterStore, logListening, onStopSignal } from "@intermission/server/graceful-stop";
import { createLogger } from "@intermission/server/logger";
import { countProcess, metricsRegistry, serveMetrics } from "@intermission/server/metrics";
import { nodeMetrics } from "@intermission/server/node-metrics";
import { secretBox as openSecretBox } from "@intermission/server/secret-box";
import { startFaultOf } from "@intermission/server/start-fault";
import manifest from "../package.json" with { type: "json" };
import { startCampaignSnapshot } from "./ad-selection/campaign-snapshot.ts";
import { createApp } from "./app.ts";
import { openApiTokens } from "./bots/authenticate-client.ts";
import { openBots } from "./bots/bots.ts";
import { requireEncryptionKey, signingTokens } from "./bots/tokens.ts";
import { requireCurrency } from "./campaigns/currency.ts";
import { type Config, readConfig } from "./config.ts";
import { openMediaStorage, requireMediaFolder } from "./creatives/media-storage.ts";
import { startCheckingMedia } from "./creatives/missing-media.ts";
import { deliveryMetrics } from "./deliveries/delivery-metrics.ts";
import { DEMO_RETRY_SECONDS, openEndpointTests, stopEndpointTests } from "./deliveries/endpoint-tests.ts";
import { startTestingEndpoints } from "./deliveries/endpoints.ts";
import { openWebhookDelivery } from "./deliveries/webhook-delivery.ts";
import { migrations } from "./migrations.ts";
import { requireBuiltPage } from "./miniapp-page/built-page.ts";
import { startSendingNotices } from "./notices/send-notices.ts";
import { openGuardedRequests } from "./outbound/guarded-request.ts";
import { rememberPublisherShare, startComparingShare } from "./statistics/publisher-share.ts";
import { startRollingUpStatistics } from "./statistics/roll-up-statistics.ts";
import { servingMetrics } from "./statistics/serving-metrics.ts";
import { startCallingTrackers } from "./vast/trackers.ts";
import { startSweepingViews } from "./views/sweep-views.ts";
import { countLiveViews, openViews } from "./views/views.ts";

async function start(config: Config): Promise<void> {
  const logger = createLogger({ level: config.logLevel, name: "ad-service", isOutage: isStoreOutage });
  requireStoreInUse(config, logger);
  await requireMediaFolder(config.media);
  // Nodes that share a database server do not share a folder.
  const folder = config.databaseUrl === undefined ? await requireDataFolder(config.dataFolder) : undefined;
  const store = await openDatabase({
    databaseUrl: config.databaseUrl,
    dataDirectory: config.dataDirectory,
    buffersMegabytes: config.buffersMegabytes,
    poolSize: config.poolSize,
    limits: config.databaseLimits,
    schema: "ad_service",
    migrations,
    logger,
    onDeath: (fault) => exitAfterStore(fault, logger),
  });
  const database = recordingDatabase(store);
  const clock = await followDatabaseClock(database);
  const { now } = clock;
  markAbandonedStore(config, now(), logger);
  const secretBox = openSecretBox(config.encryptionKey);
  await requireEncryptionKey({ database, secretBox }, logger);
  const currency = await requireCurrency(database, config.currency, logger);
  await rememberPublisherShare(database, { configured: config.publisherSharePercent, now: now() }, logger);
  const campaigns = await startCampaignSnapshot({ database, log: logger, now });
  const requests = openGuardedRequests(config.requests);
  const controlSockets = new WeakSet<object>();
  const isControlSocket = (socket: object) => controlSockets.has(socket);
  const registry = metricsRegistry({ service: "ad-service", version: manifest.version });
  countProcess(registry);
  const media = await openMediaStorage(config.media);
  const checkingMedia = await startCheckingMedia({ database, media, registry, log: logger, now });
  const comparingShare = startComparingShare({ database, configured: config.publisherSharePercent, log: logger });
  const metrics = deliveryMetrics(registry, { database, log: logger });
  const deliveries = openWebhookDelivery({ database, secretBox, requests, log: logger, metrics, now });
  const bots = openBots(database);
  const apiTokens = openApiTokens(bots);
  const views = openViews({ bots, deliveries, log: logger });
  const retrySeconds = config.mode === "demo" ? DEMO_RETRY_SECONDS : undefined;
  const endpointTests = openEndpointTests({
    database,
    deliveries,
    secretBox,
    requests,
    log: logger,
    retrySeconds,
    now,
  });
  const draining = { hasBegun: false };
  const app = await createApp({
    config,
    currency,
    logger,
    database,
    media,
    bots,
    apiTokens,
    requests,
    secretBox,
    campaigns,
    deliveries,
    views,
    endpointTests,
    isControlSocket,
    registry,
    isStopping: () => draining.hasBegun,
    requirement: checkingMedia.require,
    warning: () =>
      [clockWarning(clock), comparingShare.warning(), checkingMedia.warning()]
        .filter((one) => one !== undefined)
        .join("; ") || undefined,
    now,
  });
  await app.listen({ host: config.host, port: config.port });
  const metricsApp = await serveMetrics({ ...config.metrics, registry, logger });
  folder?.serve((socket) => {
    controlSockets.add(socket);
    app.server.emit("connection", socket);
  });
  const sweeping = startSweepingViews({ views, log: logger, now });
  const rollingUp = startRollingUpStatistics({ database, log: logger, now });
  deliveries.start();
  const calling = startCallingTrackers({ database, requests, log: logger, now });
  const noticing = startSendingNotices({
    database,
    requests,
    settings: config.notices,
    tokensOf: async (botId) =>
      (await signingTokens({ database, secretBox }, { botIds: [botId], now: now() })).get(botId),
    log: logger,
    now,
  });
  const testing = startTestingEndpoints({ database, endpointTests, log: logger });
  servingMetrics(registry, { database, currency, liveViews: () => countLiveViews(views, now()), log: logger });
  nodeMetrics(registry, {
    loops: {
      "campaign-snapshot": campaigns,
      "endpoint-tests": testing,
      "media-check": checkingMedia,
      notices: noticing,
      "publisher-share": comparingShare,
      statistics: rollingUp,
      trackers: calling,
      "view-sweep": sweeping,
    },
    poolState: store.poolState,
    poolSize: config.poolSize,
  });

  onStopSignal({ logger, drainMs: config.drainMs, draining }, async () => {
    stopEndpointTests(endpointTests);
    await app.close();
    await Promise.all([
      sweeping.stop(),
      deliveries.stop(),
      testing.stop(),
      noticing.stop(),
      rollingUp.stop(),
      checkingMedia.stop(),
      comparingShare.stop(),
      calling.stop(),
      campaigns.stop(),
    ]);
    await requests.close();
    await metricsApp?.close();
    clock.stop();
    await database.close();
    await folder?.release();
  });
  const pageFault = await requireBuiltPage(config).then(
    () => undefined,
    (error: Error) => error.message,
  );
  for (const warning of [clockWarning(clock), pageFault]) if (warning !== undefined) logger.warn({}, warning);
  logListening(logger, {
    version: manifest.version,
    schema: newestMigration(migrations),
    store: config.databaseUrl === undefined ? "embedded" : "server",
    url: config.publicUrl,
  });
}

try {
  await start(readConfig());
} catch (error) {
  const fault = startFaultOf(error);
  console.error(fault === undefined ? error : `ad-service: ${fault}`);
  process.exit(1);
}
