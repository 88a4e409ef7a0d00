import "@intermission/server/refuse-inspector";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { clockWarning, followDatabaseClock } from "@intermission/postgres/database-clock";
import { type Database, openDatabase } from "@intermission/postgres/open-database";
import { openReadReplica } from "@intermission/postgres/read-replica";
import { newestMigration } from "@intermission/postgres/schema-state";
import { isStoreOutage } from "@intermission/postgres/store-faults";
import { tracedDatabase } from "@intermission/postgres/traced-database";
import { markAbandonedStore, requireStoreInUse } from "@intermission/server/abandoned-store";
import { buildVersion } from "@intermission/server/build-identity";
import { requireDataFolder } from "@intermission/server/data-folder";
import { exitAfterStore, logListening, onStopSignal } from "@intermission/server/graceful-stop";
import { followRun } from "@intermission/server/last-run";
import { listenFirst } from "@intermission/server/listen-first";
import { userNames } from "@intermission/server/logged-users";
import { createLogger, type Logger } from "@intermission/server/logger";
import { machineMetrics } from "@intermission/server/machine-metrics";
import { countProcess, metricsRegistry, serveMetrics } from "@intermission/server/metrics";
import { nodeMetrics } from "@intermission/server/node-metrics";
import { secretBox as openSecretBox } from "@intermission/server/secret-box";
import { exitAfterStartFault } from "@intermission/server/start-fault";
import { startTracing } from "@intermission/server/tracing";
import manifest from "../package.json" with { type: "json" };
import { startCampaignSnapshot } from "./ad-selection/campaign-snapshot.ts";
import { moneyLeftMetric } from "./ad-selection/money-left.ts";
import { startAlerts } from "./alerts/start-alerts.ts";
import { createApp } from "./app.ts";
import { startScheduledBackups } from "./backups/scheduled-backups.ts";
import { startBillingLog } from "./billing-log/publish-log.ts";
import { openApiTokens } from "./bots/authenticate-client.ts";
import { openBots } from "./bots/bots.ts";
import { missingPrivacyPolicies } from "./bots/missing-privacy-policies.ts";
import { startStoringTokenUses } from "./bots/token-uses.ts";
import { requireEncryptionKey, signingTokens } from "./bots/tokens.ts";
import { requireCurrency } from "./campaigns/currency.ts";
import { startForgettingCards } from "./cards/record-card.ts";
import { type Config, environmentOfCommand, readConfig } from "./config.ts";
import { missingConsole } from "./console-page/built-console.ts";
import { startCheckingMedia } from "./creatives/missing-media.ts";
import { openMediaStorage, requireMediaFolder } from "./creatives/open-media-storage.ts";
import { deliveryMetrics } from "./deliveries/delivery-metrics.ts";
import { DEMO_RETRY_SECONDS, openEndpointTests, stopEndpointTests } from "./deliveries/endpoint-tests.ts";
import { startTestingEndpoints } from "./deliveries/endpoints.ts";
import { openWebhookDelivery } from "./deliveries/webhook-delivery.ts";
import { migrations } from "./migrations.ts";
import { requireBuiltPage } from "./miniapp-page/built-page.ts";
import { startingPage } from "./miniapp-page/friendly-page.ts";
import { startSettlingCharges } from "./money/settle-charges.ts";
import { startSendingNotices } from "./notices/send-notices.ts";
import { openSources, startReadingSources } from "./offers/source-records.ts";
import { openGuardedRequests } from "./outbound/guarded-request.ts";
import { consoleAddress } from "./people/console-address.ts";
import { startEndingImpersonations } from "./people/impersonation.ts";
import { partitionMetrics } from "./retention/describe-retention.ts";
import { makePastPartitions, makeUpcomingPartitions, startKeepingPartitions } from "./retention/keep-partitions.ts";
import { startPruningVisitors } from "./retention/prune-visitors.ts";
import { startRemovingIdle } from "./retention/remove-idle.ts";
import { startSendingReports } from "./saved-reports/send-report-mails.ts";
import { rememberPublisherShare, startComparingShare } from "./statistics/publisher-share.ts";
import { replicaMetrics, reportsFromPrimary, reportsFromReplica } from "./statistics/report-source.ts";
import { startRollingUpStatistics } from "./statistics/roll-up-statistics.ts";
import { servingMetrics } from "./statistics/serving-metrics.ts";
import { startReportingNode } from "./status/nodes.ts";
import { startFollowingTaskBots } from "./tasks/follow-updates.ts";
import { startSweepingTasks } from "./tasks/sweep-tasks.ts";
import { trackerMetrics } from "./vast/tracker-metrics.ts";
import { startCallingTrackers } from "./vast/trackers.ts";
import { openCountrySource } from "./viewers/country-source.ts";
import { startForgettingConsents } from "./viewers/viewer-consents.ts";
import { startSweepingViews } from "./views/sweep-views.ts";
import { countLiveViews, openViews } from "./views/views.ts";

const version = buildVersion(manifest.version);

async function start(config: Config): Promise<void> {
  const node = await openNode(config);
  const { database, clock, logger, registry, secretBox, store } = node;
  const { now } = clock;
  await requireEncryptionKey({ database, secretBox }, logger);
  const currency = await requireCurrency(database, config.currency, logger);
  await rememberPublisherShare(database, { configured: config.publisherSharePercent, now: now() }, logger);
  const features = await openFeatures(config, node);
  const { requests, views } = features;
  const { checkingMedia, comparingShare, keepingPartitions } = features.checks;
  const controlSockets = new WeakSet<object>();
  const draining = { hasBegun: false };
  const backups = scheduledBackups(config, node);
  const lastRun = followRun(config, logger);
  const app = await createApp({
    ...features,
    version,
    config,
    currency,
    logger,
    database,
    reports: node.reports,
    makePartitions: (period) => makePastPartitions(node.store, period),
    secretBox,
    isControlSocket: (socket) => controlSockets.has(socket),
    registry,
    isStopping: () => draining.hasBegun,
    requirement: () => {
      keepingPartitions.require();
      checkingMedia.require();
    },
    warning: () =>
      [
        clockWarning(clock),
        comparingShare.warning(),
        checkingMedia.warning(),
        node.reports.warning(),
        backups?.warning(),
        lastRun.warning(),
      ]
        .filter((one) => one !== undefined)
        .join("; ") || undefined,
    now,
  });
  await node.starting.handOver(app);
  const metricsApp = await serveMetrics({ ...config.metrics, registry, logger });
  lastRun.begin();
  node.folder?.serve((socket) => {
    controlSockets.add(socket);
    app.server.emit("connection", socket);
  });
  const loops = { ...startLoops(config, { ...node, currency }, features), ...(backups !== undefined && { backups }) };
  servingMetrics(registry, { database, currency, liveViews: () => countLiveViews(views, now()), log: logger });
  moneyLeftMetric(registry, { states: () => features.campaigns.byId.values(), currency });
  partitionMetrics(registry, { database, now, log: logger });
  machineMetrics(registry, { database, dataDirectory: config.dataDirectory, now });
  nodeMetrics(registry, { loops, poolState: store.poolState, poolSize: config.poolSize });

  onStopSignal({ logger, drainMs: config.drainMs, draining }, async () => {
    stopEndpointTests(features.endpointTests);
    await app.close();
    await Promise.all([features.deliveries, ...Object.values(loops)].map((one) => one.stop()));
    await requests.close();
    await metricsApp?.close();
    clock.stop();
    await node.stopReports();
    await database.close();
    await node.folder?.release();
    await node.tracing.stop();
    lastRun.end();
  });
  await warnOfFaults(config, node);
  logListening(logger, {
    version,
    schema: newestMigration(migrations),
    store: config.databaseUrl === undefined ? "embedded" : "server",
    url: config.publicUrl,
  });
}

/** What this process has whatever it serves: its log, its data folder, its store, the store's clock, its metrics. */
async function openNode(config: Config) {
  const nameUser = userNames(config.logUserIds, config.encryptionKey);
  const logger = createLogger({ level: config.logLevel, name: "ad-service", isOutage: isStoreOutage, nameUser });
  logger.info({ version }, "starting");
  for (const sentence of config.mistypedSettings) logger.warn({}, sentence);
  const tracing = await startTracing(config.tracing, { name: "ad-service", version, logger });
  requireStoreInUse(config, logger);
  await requireMediaFolder(config.media);
  // Nodes that share a database server do not share a folder.
  const folder = config.databaseUrl === undefined ? await requireDataFolder(config.dataFolder) : undefined;
  const { host, port } = config;
  const starting = await listenFirst({ host, port, version, logger, page: startingPage });
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
    version,
    onStep: starting.waitFor,
  });
  starting.waitFor("what is read from the store at the start");
  const database = config.tracing === undefined ? store : tracedDatabase(store);
  const clock = await followDatabaseClock(database, { logger });
  await makeUpcomingPartitions(store, clock.now());
  markAbandonedStore(config, clock.now(), logger);
  const secretBox = openSecretBox(config.encryptionKey, config.previousEncryptionKey);
  const registry = metricsRegistry({ service: "ad-service", version });
  countProcess(registry);
  const { reports, stop: stopReports } = openReports(config, { database, logger, now: clock.now });
  replicaMetrics(registry, reports);
  return { logger, tracing, folder, starting, store, database, clock, registry, secretBox, reports, stopReports };
}

function scheduledBackups({ backups }: Config, { logger: log, registry }: Pick<Node, "logger" | "registry">) {
  const { folder, everyHours } = backups;
  if (folder === undefined) return undefined;
  return startScheduledBackups({ folder, everyHours, environment: environmentOfCommand(), log, registry });
}

/** Reports are read from the replica, if one is named. */
function openReports(
  { reportsDatabaseUrl, poolSize, databaseLimits }: Config,
  { database, logger, now }: { database: Database; logger: Logger; now: () => Date },
) {
  if (reportsDatabaseUrl === undefined) return { reports: reportsFromPrimary(database), stop: async () => {} };
  const replica = openReadReplica({
    databaseUrl: reportsDatabaseUrl,
    schema: "ad_service",
    primary: database,
    poolSize,
    limits: databaseLimits,
    logger,
    now,
  });
  return { reports: reportsFromReplica(replica, database), stop: replica.stop };
}

type Node = Awaited<ReturnType<typeof openNode>>;

/** What the features keep in memory, and the checks that say whether this node can serve. */
async function openFeatures(
  config: Config,
  { store, database, secretBox, registry, logger: log, clock: { now, jumps: clockJumps, isSettled } }: Node,
) {
  const campaigns = await startCampaignSnapshot({ database, log, now });
  const requests = openGuardedRequests(config.requests);
  const media = await openMediaStorage(config.media);
  const checkingMedia = await startCheckingMedia({ database, media, registry, log, now });
  const comparingShare = startComparingShare({ database, configured: config.publisherSharePercent, log });
  const { retention } = config;
  const keepingPartitions = startKeepingPartitions({ store, retention, log, now, isClockSettled: isSettled });
  const metrics = deliveryMetrics(registry, { database, log });
  const deliveries = openWebhookDelivery({ database, secretBox, requests, log, metrics, now, clockJumps });
  const bots = openBots(database);
  const retrySeconds = config.mode === "demo" ? DEMO_RETRY_SECONDS : undefined;
  return {
    campaigns,
    requests,
    media,
    countrySource: await openCountrySource(config.countries),
    checks: { checkingMedia, comparingShare, keepingPartitions },
    deliveries,
    bots,
    apiTokens: openApiTokens(bots),
    views: openViews({ bots, deliveries, log }),
    sources: openSources(),
    endpointTests: openEndpointTests({ database, deliveries, secretBox, requests, log, retrySeconds, now }),
  };
}

type Features = Awaited<ReturnType<typeof openFeatures>>;

/** Starts the sending of webhooks, and the background loops: by the name that their metrics have. */
function startLoops(
  config: Config,
  node: Node & { currency: string },
  { campaigns, requests, deliveries, ...features }: Features,
) {
  const {
    database,
    registry,
    secretBox,
    logger: log,
    clock: { now, isSettled: isClockSettled },
  } = node;
  deliveries.start();
  const { telegramApiUrl } = config.notices;
  const tasks = { database, secretBox, requests, telegramApiUrl, publicUrl: config.publicUrl, deliveries, log, now };
  return {
    "task-updates": startFollowingTaskBots({ ...tasks, node: randomUUID() }),
    "task-sweep": startSweepingTasks(tasks),
    "campaign-snapshot": campaigns,
    sources: startReadingSources({ database, sources: features.sources, log, now }),
    "media-check": features.checks.checkingMedia,
    "publisher-share": features.checks.comparingShare,
    "view-sweep": startSweepingViews({ views: features.views, log, now }),
    statistics: startRollingUpStatistics({ database, log }),
    "money-settlement": startSettlingCharges({ database, log }),
    "billing-log": startBillingLog({ database, secretBox, media: features.media, publicUrl: config.publicUrl, log }),
    partitions: features.checks.keepingPartitions,
    visitors: startPruningVisitors({ database, log, now, isClockSettled }),
    "idle-viewers": startRemovingIdle({ database, idleDays: config.idleViewersDays, log, now, isClockSettled }),
    trackers: startCallingTrackers({
      database,
      requests,
      log,
      count: trackerMetrics(registry, { database, log }),
      now,
    }),
    consents: startForgettingConsents({ database, log, now }),
    cards: startForgettingCards({ database, log, now }),
    impersonations: startEndingImpersonations({ database, log, now }),
    "token-uses": startStoringTokenUses({ database, uses: features.apiTokens.uses, log }),
    notices: startSendingNotices({
      database,
      requests,
      settings: config.notices,
      tokensOf: async (botId) =>
        (await signingTokens({ database, secretBox }, { botIds: [botId], now: now() })).get(botId),
      log,
      now,
    }),
    alerts: startAlerts({
      database,
      requests,
      settings: config.notices,
      consoleUrl: consoleAddress(config.publicUrl),
      currency: node.currency,
      log,
      now,
    }),
    "report-mails": startSendingReports({
      database,
      reports: node.reports,
      settings: config.notices,
      consoleUrl: consoleAddress(config.publicUrl),
      publicUrl: config.publicUrl,
      currency: node.currency,
      log,
      now,
    }),
    "endpoint-tests": startTestingEndpoints({ database, endpointTests: features.endpointTests, log }),
    "node-report": startReportingNode({
      database,
      name: `${hostname()}:${config.port}`,
      version,
      log,
    }),
  };
}

/** Logs what an operator should know from the start, although this node serves. */
async function warnOfFaults(config: Config, { clock, database, logger }: Node): Promise<void> {
  const pageFault = await requireBuiltPage(config).then(
    () => undefined,
    (error: Error) => error.message,
  );
  const consoleFault = await missingConsole(config.consoleDir);
  // The demo's bot has no users.
  const privacyFault = config.mode === "demo" ? undefined : await missingPrivacyPolicies(database);
  for (const warning of [clockWarning(clock), pageFault, consoleFault, privacyFault])
    if (warning !== undefined) logger.warn({}, warning);
}

try {
  await start(readConfig());
} catch (error) {
  exitAfterStartFault("The ad service", error);
}
