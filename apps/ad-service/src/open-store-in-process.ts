import { type OpenedDatabase, openDatabase } from "@intermission/postgres/open-database";
import type { ClaimedFolder } from "@intermission/server/data-folder";
import { createLogger, type Logger } from "@intermission/server/logger";
import {
  answerOf,
  headersOf,
  isText,
  type OperatorCall,
  type OperatorClient,
  pathOf,
  payloadOf,
  textFrom,
} from "@intermission/server/operator-client";
import { secretBox } from "@intermission/server/secret-box";
import { startCampaignSnapshot } from "./ad-selection/campaign-snapshot.ts";
import { createOperatorApp } from "./app.ts";
import { openApiTokens } from "./bots/authenticate-client.ts";
import { openBots } from "./bots/bots.ts";
import { requireEncryptionKey } from "./bots/tokens.ts";
import { requireCurrency } from "./campaigns/currency.ts";
import type { CommandConfig } from "./config.ts";
import { openMediaStorage, requireMediaFolder } from "./creatives/open-media-storage.ts";
import { openEndpointTests } from "./deliveries/endpoint-tests.ts";
import { noDeliveries } from "./deliveries/enqueue-webhook.ts";
import { migrations } from "./migrations.ts";
import { openGuardedRequests } from "./outbound/guarded-request.ts";
import { makePastPartitions, makeUpcomingPartitions } from "./retention/keep-partitions.ts";
import { reportsFromPrimary } from "./statistics/report-source.ts";
import { rollUpStatistics } from "./statistics/roll-up-statistics.ts";

/** Serves the operator's API from this process, on the embedded store while no server runs, or on a shared database. */
export async function openStoreInProcess(
  config: CommandConfig & { encryptionKey: Buffer },
  folder: ClaimedFolder | undefined,
): Promise<OperatorClient> {
  try {
    return await openStore(config, folder);
  } catch (error) {
    await folder?.release();
    throw error;
  }
}

async function openStore(
  config: CommandConfig & { encryptionKey: Buffer },
  folder: ClaimedFolder | undefined,
): Promise<OperatorClient> {
  // This process has no log of its own: the reasons of its refusals go to standard error.
  const logger = createLogger({ level: "error", name: "ads", write: (line) => process.stderr.write(line) });
  await requireMediaFolder(config.media);
  const database = await openDatabase({
    databaseUrl: config.databaseUrl,
    dataDirectory: config.dataDirectory,
    buffersMegabytes: config.buffersMegabytes,
    poolSize: config.poolSize,
    limits: config.databaseLimits,
    schema: "ad_service",
    migrations,
    isExisting: true,
  });
  const closing: Closing = [() => database.close()];
  try {
    // No server may have run for weeks.
    await makeUpcomingPartitions(database, new Date());
    return await serveStore(config, { database, folder, logger, closing });
  } catch (error) {
    await closeAll(closing);
    throw error;
  }
}

/** What keeps this process from ending, in the order in which it was opened. */
type Closing = (() => Promise<unknown>)[];

async function closeAll(closing: Closing): Promise<void> {
  for (const close of closing.toReversed()) await close();
}

async function serveStore(
  config: CommandConfig & { encryptionKey: Buffer },
  {
    database,
    folder,
    logger,
    closing,
  }: {
    database: OpenedDatabase;
    folder: ClaimedFolder | undefined;
    logger: Logger;
    closing: Closing;
  },
): Promise<OperatorClient> {
  const requests = openGuardedRequests(config.requests);
  closing.push(() => requests.close());
  const tokens = secretBox(config.encryptionKey, config.previousEncryptionKey);
  await requireEncryptionKey({ database, secretBox: tokens }, logger);
  const currency = await requireCurrency(database, config.currency, logger);
  const campaigns = await startCampaignSnapshot({ database, log: logger, everyMs: 60_000 });
  closing.push(() => campaigns.stop());
  const bots = openBots(database);
  const app = createOperatorApp({
    logger,
    database,
    reports: reportsFromPrimary(database),
    makePartitions: (period) => makePastPartitions(database, period),
    bots,
    apiTokens: openApiTokens(bots),
    secretBox: tokens,
    endpointTests: openEndpointTests({
      database,
      deliveries: noDeliveries,
      secretBox: tokens,
      requests,
      log: logger,
    }),
    campaigns,
    hasCountries: config.countries.kind !== "none",
    deliveries: noDeliveries,
    requests,
    currency,
    retention: config.retention,
    media: await openMediaStorage(config.media),
    miniappUrl: config.miniappUrl,
    publicUrl: config.publicUrl,
    telegramApiUrl: config.telegramApiUrl,
    isPlainHttpAllowed: config.mode === "demo",
    now: () => new Date(),
  });
  closing.push(() => app.close());
  await app.ready();
  // Perhaps no node runs that rolls up the sums, and reports must count everything committed so far.
  while ((await rollUpStatistics(database)).hasMore);
  // The claim's socket serves no requests: a concurrent command waits for it and continues when the claim is released.
  const send = (call: OperatorCall, payloadAsStream = false) => {
    const payload = payloadOf(call);
    const request = { method: call.method, url: pathOf(call), headers: headersOf(call), payloadAsStream };
    return app.inject({ ...request, ...(payload !== undefined && { payload }) });
  };
  return {
    async call(call) {
      const answer = await send(call);
      return answerOf(answer.statusCode, answer.body, answer.headers["content-type"]);
    },
    async read(call) {
      const { statusCode, headers, stream } = await send(call, true);
      const parts = textFrom(stream(), (cause) => cause);
      if (isText(statusCode, headers["content-type"])) return parts;
      let text = "";
      for await (const part of parts) text += part;
      answerOf(statusCode, text);
      throw new Error(`the answer to ${call.path} is no text`);
    },
    async close() {
      await closeAll(closing);
      await folder?.release();
    },
  };
}
