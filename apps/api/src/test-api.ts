import type { AddressInfo } from "node:net";
import { sign } from "@intermission/ad-core/signature";
import { createLogger } from "@intermission/http-server/logger";
import type { Database } from "@intermission/postgres/open-database";
import { createTRPCClient, httpLink, httpSubscriptionLink } from "@trpc/client";
import { EventSource } from "eventsource";
import { type AppOptions, createApp } from "./app.ts";
import type { Config } from "./config.ts";
import { bookingHint } from "./ledger/booking-hint.ts";
import type { RewardEntry } from "./ledger/schema.ts";
import type { AppRouter } from "./router.ts";

/** What tests share: this API on a real port, over a database that the test opened. */
export interface TestApi {
  readonly url: string;
  readonly config: Config;
  /** Signs and sends these bytes as the ad service would. */
  deliver(body: string | object, headers?: Record<string, string>): Promise<Response>;
  /** A tRPC client; by default the bot's backend. */
  client(authorization?: string): ReturnType<typeof createTRPCClient<AppRouter>>;
  /** A bot backend's subscription over SSE, which comes back by itself. */
  watch(
    cursor: string,
    onEntry: (entry: RewardEntry) => void,
    onError?: (error: unknown) => void,
    more?: { includeTests?: boolean },
  ): { stop(): void; isStarted: Promise<void> };
  stop(): Promise<void>;
}

export const testToken = "ad_test_token_of_the_bot";

export const testConfig: Config = {
  mode: "demo",
  host: "127.0.0.1",
  port: 0,
  databaseUrl: undefined,
  dataFolder: "unused",
  logLevel: "silent",
  trustProxy: undefined,
  metrics: { port: undefined, host: "127.0.0.1", token: undefined },
  drainMs: 0,
  adServiceUrl: "http://127.0.0.1:9",
  botId: "7000000001",
  adApiTokens: [testToken],
  telegramBotToken: "7000000001:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  backendApiKey: "a-backend-key-for-tests-of-40-characters",
  miniappOrigin: "https://ads.example",
  links: {
    miniappUrl: "https://ads.example/app",
    directLinkUrl: "https://go.example",
    botUsername: "coin_garden_bot",
    miniAppName: "watch",
  },
  payout: { rewarded: 10, directLink: 3, dailyCap: undefined, perCode: "once" },
  twoFieldEvents: "off",
};

export async function startTestApi(
  database: Database<unknown>,
  changes: Partial<Config> = {},
  adService: AppOptions["adService"] = { createCode: () => Promise.reject(new Error("no ad service in this test")) },
  more: Partial<AppOptions> & { log?: (line: string) => void } = {},
): Promise<TestApi> {
  const config = { ...testConfig, ...changes };
  const stopping = new AbortController();
  const { log, ...appOptions } = more;
  const logger = createLogger({ level: log ? "info" : config.logLevel, name: "api", ...(log && { write: log }) });
  const hint = await bookingHint(database, logger);
  const app = createApp({ config, database, adService, logger, hint, stopping: stopping.signal, ...appOptions });
  await app.listen({ host: config.host, port: config.port });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    url,
    config,
    deliver(body, headers = {}) {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const own = { "content-type": "application/json", "x-signature": sign(Buffer.from(text), testToken) };
      return fetch(`${url}/webhooks/ads`, { method: "POST", body: text, headers: { ...own, ...headers } });
    },
    client: (authorization = `Bearer ${config.backendApiKey}`) =>
      createTRPCClient<AppRouter>({ links: [httpLink({ url: `${url}/trpc`, headers: { authorization } })] }),
    watch: (cursor, onEntry, onError = () => {}, more = {}) =>
      watch(url, config.backendApiKey, { cursor, onEntry, onError, ...more }),
    async stop() {
      stopping.abort();
      await app.close();
      await hint.stop();
    },
  };
}

interface Watching {
  cursor: string;
  includeTests?: boolean;
  onEntry: (entry: RewardEntry) => void;
  onError: (error: unknown) => void;
}

function watch(url: string, key: string, { cursor, includeTests, onEntry, onError }: Watching) {
  const authorization = `Bearer ${key}`;
  const client = createTRPCClient<AppRouter>({
    links: [
      httpSubscriptionLink({
        url: `${url}/trpc`,
        EventSource,
        eventSourceOptions: {
          fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, authorization } }),
        },
      }),
    ],
  });
  const started = Promise.withResolvers<void>();
  const subscription = client.rewards.watch.subscribe(
    { lastEventId: cursor, includeTests },
    { onStarted: () => started.resolve(), onData: ({ data }) => onEntry(data), onError },
  );
  return { stop: () => subscription.unsubscribe(), isStarted: started.promise };
}
