import "@intermission/server/refuse-inspector";
import type { AddressInfo } from "node:net";
import { clockWarning, followDatabaseClock } from "@intermission/postgres/database-clock";
import { openDatabase } from "@intermission/postgres/open-database";
import { newestMigration } from "@intermission/postgres/schema-state";
import { isStoreOutage } from "@intermission/postgres/store-faults";
import { tracedDatabase } from "@intermission/postgres/traced-database";
import { markAbandonedStore, requireStoreInUse } from "@intermission/server/abandoned-store";
import { startLoop } from "@intermission/server/background-loop";
import { buildVersion } from "@intermission/server/build-identity";
import { requireDataFolder } from "@intermission/server/data-folder";
import { exitAfterStore, logListening, onStopSignal } from "@intermission/server/graceful-stop";
import { followRun } from "@intermission/server/last-run";
import { listenFirst } from "@intermission/server/listen-first";
import { userNames } from "@intermission/server/logged-users";
import { createLogger } from "@intermission/server/logger";
import { machineMetrics } from "@intermission/server/machine-metrics";
import { countProcess, serveMetrics } from "@intermission/server/metrics";
import { nodeMetrics } from "@intermission/server/node-metrics";
import { exitAfterStartFault } from "@intermission/server/start-fault";
import { startTracing } from "@intermission/server/tracing";
import manifest from "../package.json" with { type: "json" };
import { type AdServiceClient, adServiceClient, adServiceConnections } from "./ad-service-client.ts";
import { type AppOptions, createApp, newMetrics } from "./app.ts";
import { configuredBot } from "./bots/bot.ts";
import { botSecretBox, openServedBots } from "./bots/served-bots.ts";
import { type Config, readConfig } from "./config.ts";
import { ledgerHint } from "./ledger/watch-rewards.ts";
import { migrations } from "./migrations.ts";
import { errorBodyOfSurface } from "./trpc-surface.ts";
import { startReconciling } from "./webhook-intake/start-reconciling.ts";

const REFRESH_BOTS_MS = 2000;

const version = buildVersion(manifest.version);

async function main(): Promise<void> {
  const config = readConfig();
  const node = await openNode(config);
  const { database, clock, logger, metrics } = node;
  const { now } = clock;
  const box = config.encryptionKey && botSecretBox(config.encryptionKey, config.previousEncryptionKey);
  const bots = await openServedBots({ database, configured: config.bot && configuredBot(config.bot), box, logger });
  const connections = adServiceConnections(config.adServiceUrl);
  const adServiceOf = (token: string) => adServiceClient({ url: config.adServiceUrl, token, connections });
  const stopping = new AbortController();
  const hint = await ledgerHint(database, logger);
  const controlSockets = new WeakSet<object>();
  const draining = { hasBegun: false };
  const lastRun = followRun(config, logger);
  const app = createApp({
    config,
    version,
    database,
    bots,
    box,
    adServiceOf,
    logger,
    hint,
    stopping: stopping.signal,
    isControlSocket: (socket) => controlSockets.has(socket),
    metrics,
    isDraining: () => draining.hasBegun,
    warning: () => [clockWarning(clock), lastRun.warning()].filter((one) => one !== undefined).join("; ") || undefined,
    now,
  });

  await node.starting.handOver(app);
  const url = addressOf(app, config);
  const metricsApp = await serveMetrics({ ...config.metrics, registry: metrics.registry, logger });
  lastRun.begin();
  node.folder?.serve((socket) => {
    controlSockets.add(socket);
    app.server.emit("connection", socket);
  });
  const loops = startLoops(node, { bots, adServiceOf, hint });
  machineMetrics(metrics.registry, { database, dataDirectory: config.dataDirectory, now });
  nodeMetrics(metrics.registry, { loops, poolState: database.poolState, poolSize: config.poolSize });
  onStopSignal({ logger, drainMs: config.drainMs, draining }, async () => {
    stopping.abort();
    const reconciled = loops.reconciliation.stop();
    await app.close();
    await connections.destroy();
    await reconciled;
    await loops.bots.stop();
    await hint.stop();
    await metricsApp?.close();
    clock.stop();
    await database.close();
    await node.folder?.release();
    await node.tracing.stop();
    lastRun.end();
  });
  const clockFault = clockWarning(clock);
  if (clockFault !== undefined) logger.warn({}, clockFault);
  logListening(logger, {
    version,
    schema: newestMigration(migrations),
    store: config.databaseUrl === undefined ? "embedded" : "server",
    url,
  });
}

/** What this process has whatever it serves: its log, its data folder, its store, the store's clock, its metrics. */
async function openNode(config: Config) {
  const nameUser = userNames(config.logUserIds, config.logIdSecret);
  const logger = createLogger({ level: config.logLevel, name: "api", isOutage: isStoreOutage, nameUser });
  logger.info({ version }, "starting");
  for (const sentence of config.mistypedSettings) logger.warn({}, sentence);
  const tracing = await startTracing(config.tracing, { name: "api", version, logger });
  requireStoreInUse(config, logger);
  const folder = config.databaseUrl === undefined ? await requireDataFolder(config.dataFolder) : undefined;
  const { host, port } = config;
  const starting = await listenFirst({ host, port, version, logger, errorBodyFor: errorBodyOfSurface });
  const store = await openDatabase({
    databaseUrl: config.databaseUrl,
    dataDirectory: config.dataDirectory,
    buffersMegabytes: config.buffersMegabytes,
    poolSize: config.poolSize,
    limits: config.databaseLimits,
    schema: "api",
    migrations,
    logger,
    onDeath: (fault) => exitAfterStore(fault, logger),
    version,
    onStep: starting.waitFor,
  });
  starting.waitFor("what is read from the store at the start");
  const database = config.tracing === undefined ? store : tracedDatabase(store);
  const clock = await followDatabaseClock(database, { logger });
  markAbandonedStore(config, clock.now(), logger);
  const metrics = newMetrics(version);
  countProcess(metrics.registry);
  return { logger, tracing, folder, starting, database, clock, metrics };
}

type Node = Awaited<ReturnType<typeof openNode>>;

/** The background loops, by the name that their metrics have. */
function startLoops(
  { database, logger, metrics, clock: { now } }: Node,
  {
    bots,
    adServiceOf,
    hint,
  }: Pick<AppOptions, "bots" | "hint"> & { readonly adServiceOf: (token: string) => AdServiceClient },
) {
  // A change by another node, or by a command without a server, shows up here.
  let isTableRead = true;
  return {
    reconciliation: startReconciling({
      database,
      settleAfterSeconds: 30,
      logger,
      now,
      onRecorded: hint.announce,
      bots: () =>
        bots.all().map(({ id, payout, adApiTokens }) => ({ id, payout, adService: adServiceOf(adApiTokens[0]) })),
      onRound: (result, botId) =>
        metrics.intake.reconciled(
          botId,
          result,
          performance.now(),
          bots.all().map(({ id }) => id),
        ),
    }),
    bots: startLoop({
      everyMs: REFRESH_BOTS_MS,
      async round() {
        await bots.refresh();
        isTableRead = true;
        return undefined;
      },
      onFault(error) {
        // Once in an outage, not every two seconds.
        if (isTableRead) logger.warn({ err: error }, "the table of bots cannot be read: its last state is served");
        isTableRead = false;
      },
    }),
  };
}

function addressOf(app: ReturnType<typeof createApp>, { host }: Config): string {
  const { port } = app.server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

main().catch((error: unknown) => exitAfterStartFault("The companion API", error));
