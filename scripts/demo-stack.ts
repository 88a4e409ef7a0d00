import { join } from "node:path";
import { type DemoSecrets, demoSecrets, keepDemoSecrets } from "./demo-secrets.ts";
import { root, runCommand, type Server, startServer } from "./processes.ts";
import { step } from "./say.ts";
import { type BotPictures, demoReward, seedDemo } from "./seed-demo.ts";
import { type SeededBot, seedOwnBot } from "./seed-own-bot.ts";
import { seedTasks } from "./seed-tasks.ts";
import type { OwnBotOptions } from "./start-options.ts";

export interface DemoStackOptions {
  readonly dataDirectory: string;
  readonly ports: { readonly adService: number; readonly api: number; readonly demoBot: number };
  /** Without it both servers use the embedded store. */
  readonly databaseUrl?: string | undefined;
  /** The video of the house campaign. */
  readonly video: string;
  readonly poster?: string;
  /** Whether to start the demo chat, too. */
  readonly hasChat: boolean;
  /** Whether the chat has a channel to join for coins. False by default. */
  readonly hasTasks?: boolean;
  readonly cooldownSeconds: number;
  readonly dailyCap: number;
  /** Whether the mini-app tells its users what a view is worth, as the companion API pays it. False by default. */
  readonly isRewardNamed?: boolean;
  readonly pictures?: BotPictures;
  /** The chat, the simulated phone and the companion API act for this bot instead of the demo's own. */
  readonly ownBot?: OwnBotOptions | undefined;
  /** Restarts a server when one of its sources changes. */
  readonly isWatched?: boolean;
  readonly onLine?: (server: ServerName, line: string) => void;
  /** The program of a server, instead of its source. */
  readonly programs?: Partial<Record<ServerName, string>>;
  /** Further environment variables for a server; they override the demo's own. */
  readonly env?: Partial<Record<ServerName, NodeJS.ProcessEnv>>;
  /** Runs the operator's command line and returns its output; by default in a separate process for each command. */
  readonly runAds?: (commandArguments: readonly string[], env: NodeJS.ProcessEnv) => Promise<string>;
}

export type ServerName = "ad-service" | "api" | "demo-bot";

export interface DemoStack {
  readonly secrets: DemoSecrets;
  readonly urls: { readonly adService: string; readonly api: string; readonly demoBot: string };
  readonly servers: Map<ServerName, Server>;
  /** Of its servers. */
  readonly dataDirectory: string;
  /** `ownBot`: where its webhooks go, and the environment of its program. */
  readonly ownBot: { readonly webhookUrl: string; readonly environment: Readonly<Record<string, string>> } | undefined;
  start(name: ServerName): Promise<void>;
  /** A link that signs the demo's owner in to the console, once. */
  signInLink(): Promise<string>;
  /** Adds sample traffic for the console, unless this folder had it once. Returns whether it was added. */
  addSample(): Promise<boolean>;
  /** Runs the operator's command line against the ad service and returns its output. */
  ads(commandArguments: readonly string[]): Promise<string>;
  stop(): Promise<void>;
}

const samples = join(root, "apps/ad-service/sample");
export const demoPictures: BotPictures = { bot: join(samples, "bot-picture.webp"), unit: join(samples, "coin.webp") };

const scripts: Record<ServerName, string> = {
  "ad-service": "apps/ad-service/src/main.ts",
  api: "apps/api/src/main.ts",
  "demo-bot": "apps/demo-bot/src/main.ts",
};

/** Starts ad service, companion API and demo bot on 127.0.0.1 and seeds the ad service. Stops them in reverse order. */
export async function startDemoStack(options: DemoStackOptions): Promise<DemoStack> {
  let secrets = demoSecrets(options.dataDirectory);
  const { ports } = options;
  const urls = {
    adService: `http://127.0.0.1:${ports.adService}`,
    api: `http://127.0.0.1:${ports.api}`,
    demoBot: `http://127.0.0.1:${ports.demoBot}`,
  };
  const servers = new Map<ServerName, Server>();
  let ownBot: SeededBot | undefined;

  const { runAds = runAdsProcess } = options;
  const ads = (commandArguments: readonly string[]) =>
    runAds(commandArguments, { ADS_URL: urls.adService, OPERATOR_TOKEN: secrets.operatorToken });

  const start = async (name: ServerName) => {
    const onLine = options.onLine;
    const server = startServer(
      name,
      options.programs?.[name] ?? scripts[name],
      { ...environmentOf(name, secrets, options, urls), ...ownBotOf(name), ...options.env?.[name] },
      { onLine: onLine && ((line) => onLine(name, line)), isWatched: options.isWatched },
    );
    servers.set(name, server);
    await server.ready;
  };

  /** What the chat and the companion API get for a bot of one's own. */
  const ownBotOf = (name: ServerName): NodeJS.ProcessEnv => {
    if (options.ownBot === undefined || ownBot === undefined || name === "ad-service") return {};
    const { botId } = options.ownBot;
    const identity = { BOT_ID: botId, TELEGRAM_BOT_TOKEN: simulatedToken(botId) };
    return name === "api"
      ? { ...identity, AD_API_TOKENS: ownBot.apiToken }
      : { ...identity, AD_API_TOKEN: ownBot.apiToken, BOT_NAME: ownBot.name };
  };

  const stop = async () => {
    for (const name of ["demo-bot", "api", "ad-service"] as const) await servers.get(name)?.stop();
  };

  try {
    await step("ad service", () => start("ad-service"));
    // The chat's server receives the demo bot's webhooks, shows them, and passes them on to the companion API.
    const webhookUrl = `${options.hasChat ? urls.demoBot : urls.api}/webhooks/ads`;
    const seededFor = `${webhookUrl} ${urls.api} ${urls.demoBot}`;
    if (secrets.adApiToken === undefined || secrets.seededFor !== seededFor) {
      const seed = { ...options, ads, secrets, urls, webhookUrl };
      const adApiToken = await step("demo bot and house campaign", () => seedDemo(seed));
      secrets = { ...secrets, adApiToken, seededFor };
      keepDemoSecrets(options.dataDirectory, secrets);
    }
    if (options.ownBot !== undefined) {
      const seed = { ...options, ads, secrets, adServiceUrl: urls.adService, apiUrl: urls.api, bot: options.ownBot };
      ownBot = await step(`your bot ${options.ownBot.botId}`, () => seedOwnBot(seed));
      secrets = { ...secrets, ownBots: { ...secrets.ownBots, [options.ownBot.botId]: ownBot.apiToken } };
      keepDemoSecrets(options.dataDirectory, secrets);
    }
    await step("companion API", () => start("api"));
    if (options.hasChat) await step("demo chat", () => start("demo-bot"));
    if (options.hasTasks) {
      const seed = { ads, botId: secrets.botId, taskBotToken: taskBotToken(secrets) };
      await step("channel to join", () => seedTasks(seed));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    get secrets() {
      return secrets;
    },
    get ownBot() {
      if (options.ownBot === undefined || ownBot === undefined) return undefined;
      const { botId } = options.ownBot;
      const environment = {
        AD_SERVICE_URL: urls.adService,
        BOT_ID: botId,
        AD_API_TOKEN: ownBot.apiToken,
        TELEGRAM_BOT_TOKEN: simulatedToken(botId),
        BOT_API_URL: urls.demoBot,
        API_URL: urls.api,
        BACKEND_API_KEY: secrets.backendApiKey,
      };
      return { webhookUrl: ownBot.webhookUrl, environment };
    },
    urls,
    servers,
    dataDirectory: options.dataDirectory,
    start,
    signInLink: () => signInLink(ads),
    async addSample() {
      if (secrets.hasSample === true) return false;
      await ads(["sample", "add"]);
      secrets = { ...secrets, hasSample: true };
      keepDemoSecrets(options.dataDirectory, secrets);
      return true;
    },
    ads,
    stop,
  };
}

const DEMO_OWNER = "owner@demo.example";

/** The demo's owner has no password: each start makes a link, and another one is made by the same command. */
async function signInLink(ads: DemoStack["ads"]): Promise<string> {
  const make = async () => JSON.parse(await ads(["people", "sign-in-link", DEMO_OWNER, "--json"])).link as string;
  return make().catch(async () => {
    await ads(["people", "add", DEMO_OWNER, "--role", "owner"]);
    return make();
  });
}

/** The token with which a bot's program uses the simulated chat in place of Telegram. Its form is that of a real token. */
const simulatedToken = (botId: string) => `${botId}:simulated-telegram-token`;

/** Of the simulated channel's administrator, by which the ad service learns who joins. */
const taskBotToken = ({ telegramBotToken }: DemoSecrets) => `7000000009:${telegramBotToken.split(":", 2)[1]}`;

function runAdsProcess(commandArguments: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return runCommand(process.execPath, [join(root, "apps/ad-service/src/cli.ts"), ...commandArguments], { env });
}

export function environmentOf(
  name: ServerName,
  secrets: DemoSecrets,
  options: DemoStackOptions,
  urls: DemoStack["urls"],
): NodeJS.ProcessEnv {
  const shared = {
    MODE: "demo",
    HOST: "127.0.0.1",
    DATA_DIR: options.dataDirectory,
    LOG_LEVEL: process.env.LOG_LEVEL ?? "info",
  };
  const store = options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl };
  const miniappUrl = `${urls.adService}/app`;
  if (name === "ad-service") {
    return {
      ...shared,
      ...store,
      PORT: String(options.ports.adService),
      PUBLIC_URL: urls.adService,
      DIRECT_LINK_URL: urls.adService,
      MINIAPP_URL: miniappUrl,
      MINIAPP_DIR: join(root, "apps/miniapp/dist"),
      CONSOLE_DIR: join(root, "apps/console/dist"),
      ENCRYPTION_KEY: secrets.encryptionKey,
      OPERATOR_TOKEN: secrets.operatorToken,
      WEBHOOK_ALLOWED_NETWORKS: "127.0.0.0/8,::1",
      // For the stand-in of a buyer, examples/buyer.ts.
      BUYER_ALLOWED_NETWORKS: "127.0.0.0/8,::1",
      VAST_ALLOWED_NETWORKS: "127.0.0.0/8,::1",
      DEMO_BOT_ID: options.ownBot?.botId ?? secrets.botId,
      DEMO_TELEGRAM_PUBLIC_KEY: secrets.telegramPublicKey,
      DEMO_CHAT_ORIGIN: urls.demoBot,
      ...(options.hasTasks && { TELEGRAM_API_URL: urls.demoBot }),
    };
  }
  if (name === "api") {
    return {
      ...shared,
      ...store,
      PORT: String(options.ports.api),
      AD_SERVICE_URL: urls.adService,
      // The same hashes of users as in the ad service's log.
      ENCRYPTION_KEY: secrets.encryptionKey,
      BOT_ID: secrets.botId,
      AD_API_TOKENS: secrets.adApiToken,
      TELEGRAM_BOT_TOKEN: secrets.telegramBotToken,
      BACKEND_API_KEY: secrets.backendApiKey,
      MINIAPP_URL: miniappUrl,
      DIRECT_LINK_URL: urls.adService,
      REWARD_REWARDED: String(demoReward.perView),
      REWARD_DIRECT_LINK: String(demoReward.perClick),
      REWARD_TASK: String(demoReward.perTask),
      DAILY_CAP: String(options.dailyCap),
    };
  }
  return {
    ...shared,
    PORT: String(options.ports.demoBot),
    AD_SERVICE_URL: urls.adService,
    AD_API_TOKEN: secrets.adApiToken,
    OPERATOR_TOKEN: secrets.operatorToken,
    API_URL: urls.api,
    BACKEND_API_KEY: secrets.backendApiKey,
    BOT_ID: secrets.botId,
    TELEGRAM_BOT_TOKEN: secrets.telegramBotToken,
    DEMO_TELEGRAM_PRIVATE_KEY: secrets.telegramPrivateKey,
    MINIAPP_URL: miniappUrl,
    COOLDOWN_SECONDS: String(options.cooldownSeconds),
    ...(options.hasTasks && { TASK_BOT_TOKEN: taskBotToken(secrets) }),
  };
}
