import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@intermission/http-server/logger";
import { metricsRegistry } from "@intermission/http-server/metrics-registry";
import type { AdDatabase } from "./ad-database.ts";
import { startCampaignSnapshot } from "./ad-selection/campaign-snapshot.ts";
import { viewRecorder } from "./ad-sessions/view-recorder.ts";
import { createApp } from "./app.ts";
import { addBot } from "./bots/add-bot.ts";
import type { BotSettings } from "./bots/bot-settings.ts";
import { secretBox as openSecretBox } from "./bots/secret-box.ts";
import type { Config } from "./config.ts";
import { openGuardedRequests } from "./outbound/guarded-request.ts";
import { noDeliveries } from "./webhook-delivery/deliveries.ts";
import { openEndpointTests } from "./webhook-endpoints/test-endpoint.ts";

export type AppStage = Awaited<ReturnType<typeof openAppStage>>;

/** The whole app on a real port, with a clock to be set: what tests of its surfaces stand on. */
export async function openAppStage(
  database: AdDatabase,
  changes: Partial<Config> = {},
  { log }: { log?: (line: string) => void } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), "intermission-app-"));
  const logger = createLogger({ level: log ? "info" : "silent", name: "test", ...(log && { write: log }) });
  const config = { ...configOf(folder), ...changes };
  const secretBox = openSecretBox(config.encryptionKey);
  const campaigns = await startCampaignSnapshot({ database, log: logger, everyMs: 60_000 });
  const clock = { now: new Date("2026-03-01T12:00:00.000Z") };
  const controlSockets = new WeakSet<object>();
  const requests = openGuardedRequests({
    isPlainHttpAllowed: config.mode === "demo",
    allowedNetworks: {
      webhook: config.webhookAllowedNetworks,
      vast: config.vastAllowedNetworks,
      video: config.videoAllowedNetworks,
    },
  });
  const endpointTests = openEndpointTests({ database, deliveries: noDeliveries, secretBox, requests, log: logger });
  const app = await createApp({
    config,
    logger,
    database,
    secretBox,
    campaigns,
    deliveries: noDeliveries,
    views: viewRecorder({ database, deliveries: noDeliveries }),
    endpointTests,
    requests,
    isControlSocket: (socket) => controlSockets.has(socket),
    registry: metricsRegistry({ service: "ad-service", version: "test" }),
    now: () => clock.now,
  });
  const address = await app.listen({ host: "127.0.0.1", port: 0 });

  return {
    app,
    address,
    clock,
    campaigns,
    secretBox,
    async newBot(settings: Partial<BotSettings> = {}): Promise<{ botId: string; token: string; tokenId: string }> {
      const botId = newTelegramId();
      const added = await addBot({ database, secretBox }, { botId, settings, now: clock.now });
      if (added.outcome !== "added") throw new Error(`${botId} was drawn twice`);
      return { botId, token: added.token, tokenId: added.entry.tokenId };
    },
    async close() {
      endpointTests.stop();
      await app.close();
      await requests.close();
      await campaigns.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function newTelegramId(): string {
  return String(1_000_000_000 + randomBytes(6).readUIntBE(0, 6));
}

function configOf(folder: string): Config {
  return {
    mode: "demo",
    databaseUrl: undefined,
    dataFolder: folder,
    logLevel: "silent",
    media: { kind: "folder", folder: join(folder, "media"), isMadeIfMissing: true },
    encryptionKey: randomBytes(32),
    host: "127.0.0.1",
    port: 0,
    trustProxy: undefined,
    publicUrl: "http://ads.test",
    directLinkUrl: "http://ads.test",
    miniappUrl: "http://ads.test/app",
    miniappDir: join(folder, "miniapp"),
    operatorToken: undefined,
    metrics: { port: undefined, host: "127.0.0.1", token: undefined },
    currency: "USD",
    publisherSharePercent: 70,
    mostDailyClicksPerAddress: undefined,
    drainMs: 0,
    webhookAllowedNetworks: [],
    vastAllowedNetworks: [],
    videoAllowedNetworks: [],
    rateLimits: { perTokenPerSecond: 100_000, perUserPerMinute: 100_000 },
    demo: { botId: undefined, telegramPublicKey: undefined, chatOrigin: undefined },
  };
}
