import "@intermission/server/refuse-inspector";
import { verifyInitDataWithBotToken } from "@intermission/ad-core/telegram-init-data";
import { type Ads, createAds } from "@intermission/publisher";
import { createCompanion, followRewards } from "@intermission/publisher/companion";
import { logListening, onStopSignal } from "@intermission/server/graceful-stop";
import { userNames } from "@intermission/server/logged-users";
import { createLogger, type Logger } from "@intermission/server/logger";
import { exitAfterStartFault } from "@intermission/server/start-fault";
import { openOperator } from "./ad-service/operator-client.ts";
import { type AppOptions, createApp } from "./app.ts";
import { CoinGardenChannel } from "./channel/coin-garden-channel.ts";
import { type CoinGardenConfig, type OwnBotConfig, readConfig } from "./config.ts";
import { OwnBot } from "./own-bot/own-bot.ts";
import { Phones } from "./phone/phones.ts";
import { companionFacts } from "./rewards/companion-facts.ts";
import { cursorFile } from "./rewards/cursor-file.ts";
import { publisherRewards } from "./rewards/publisher-rewards.ts";
import { createBot } from "./scenario/create-bot.ts";
import type { RecordedEntry } from "./scenario/rewards-port.ts";
import { signLaunch } from "./simulated-chat/sign-launch.ts";
import { SimulatedChat } from "./simulated-chat/simulated-chat.ts";
import { taskBot } from "./task-channel/task-bot-methods.ts";
import { TaskChannel } from "./task-channel/task-channel.ts";
import { readTimeline } from "./timeline/read-timeline.ts";
import { ViewRecords } from "./timeline/view-records.ts";
import { eventList } from "./webhooks/event-list.ts";
import { type FactSources, readFacts } from "./webhooks/facts.ts";
import { WebhookReceiver } from "./webhooks/receiver.ts";

const now = () => new Date();

/** A game stays open for hours with the launch data of its start. */
const GAME_SECONDS = 12 * 3600;

interface Setting {
  readonly config: ReturnType<typeof readConfig>;
  readonly logger: Logger;
  readonly chat: SimulatedChat;
  readonly views: ViewRecords;
  readonly ads: Ads;
  readonly stopping: AbortSignal;
}

interface Started extends Pick<AppOptions, "bot" | "botName" | "game" | "ownBot" | "receiver"> {
  readonly ledger: FactSources["ledger"];
  /** Work beside the server, which ends with `stopping`. */
  readonly follow: () => Promise<void>;
}

/** The demo's own bot, whose backend is the companion API. Its webhooks arrive here first. */
function coinGarden(
  { apiUrl, apiKey, cooldownSeconds }: CoinGardenConfig,
  { config, logger, chat, views, ads, stopping }: Setting,
): Started {
  const api = { url: apiUrl, apiKey };
  const companion = createCompanion(api);
  const onCode = views.codeCreated.bind(views);
  const rewards = publisherRewards(companion, { ads, onCode });
  const garden = new CoinGardenChannel({ chat, ads, now, onCode });
  const bot = createBot({
    chat,
    rewards,
    cooldownSeconds,
    now,
    onTrouble: (error) => logger.warn({ err: error }, "a message could not be answered"),
  });
  const cursors = cursorFile(`${config.dataFolder}/rewards-cursor`);
  const tell = async (entry: RecordedEntry) => {
    await bot.tell(entry);
    await garden.approve(entry);
  };
  return {
    bot: { ...bot, channel: garden.channel, askToJoin: (userId) => garden.askToJoin(userId) },
    game: {
      userOf(initData) {
        const { botToken } = config.telegram;
        const verdict = verifyInitDataWithBotToken({ initData, botToken, now: now(), maxAgeSeconds: GAME_SECONDS });
        return verdict.outcome === "valid" ? verdict.user.id : undefined;
      },
      async newCode(userId) {
        const ad = await rewards.createAd(userId);
        return ad.outcome === "created" ? (new URL(ad.miniappUrl).searchParams.get("code") ?? undefined) : undefined;
      },
    },
    receiver: new WebhookReceiver({
      token: config.adService.apiToken,
      forwardTo: `${apiUrl}/webhooks/ads`,
      now,
      redeliver: (eventId) => ads.redeliver(eventId),
      onTrouble: (error) => logger.warn({ err: error }, "a webhook was not passed on, or not sent again"),
    }),
    ledger: companionFacts(companion, api),
    follow: () =>
      followRewards(companion, cursors, tell, {
        signal: stopping,
        onError: (error) => logger.warn({ err: error }, "the rewards feed failed; retrying"),
      }),
  };
}

function botOfOnesOwn({ botName }: OwnBotConfig, { config, chat, ads }: Setting): Started {
  const { miniappOrigin, telegram } = config;
  const { botId, botToken } = telegram;
  const bot = new OwnBot({ chat, ads, botId, botName, botToken, miniappOrigin, now });
  return { bot, botName, ownBot: bot, receiver: undefined, ledger: undefined, follow: async () => {} };
}

/** A channel to join, and its task bot. */
function tasksOf(token: string | undefined, { ads, logger }: Setting): Pick<AppOptions, "tasks" | "taskBot"> {
  if (token === undefined) return {};
  const channel = new TaskChannel(now);
  const onTrouble = (error: unknown) => logger.warn({ err: error }, "the state of a task is not known now");
  return { tasks: { channel, ads, onTrouble }, taskBot: taskBot(channel, token) };
}

/** What the panel shows, and what its buttons do. */
function panelOf(config: Setting["config"], { ads, views }: Setting, { receiver, ledger }: Started) {
  const { botId } = config.telegram;
  const operator = openOperator(config.adService);
  const endpoint = () => operator.endpoint(botId);
  const sources = { ads, views, operator, receiver, endpoint, ledger, events: eventList(ads) };
  const receipts = ledger && (async (userId: string) => (await ledger(userId)).receipts);
  return {
    whatHappened: (userId: string) => readFacts(sources, userId),
    timelineOf: (userId: string) => readTimeline({ ...sources, receipts }, userId),
    redeliver: (eventId: string) => ads.redeliver(eventId),
    testEndpoint: () => operator.testEndpoint(botId),
  };
}

async function main(): Promise<void> {
  const config = readConfig();
  const { backend, miniappOrigin } = config;
  // It has no ENCRYPTION_KEY, so that its hashes are others than the servers'.
  const nameUser = userNames(config.logUserIds, config.adService.apiToken);
  const logger = createLogger({ level: config.logLevel, name: "demo-bot", nameUser });
  const chat = new SimulatedChat(now);
  const stopping = new AbortController();
  const views = new ViewRecords();
  const { url: adServiceUrl, apiToken: token } = config.adService;
  const { botId } = config.telegram;
  const ads = createAds({ url: adServiceUrl, token, botId });
  const setting = { config, logger, chat, views, ads, stopping: stopping.signal };
  const started = "botName" in backend ? botOfOnesOwn(backend, setting) : coinGarden(backend, setting);
  const app = createApp({
    ...started,
    ...tasksOf(config.taskBotToken, setting),
    ...panelOf(config, setting, started),
    logger,
    chat,
    botId,
    miniappOrigin,
    adServiceUrl,
    views,
    now,
    phones: new Phones(),
    signLaunch: (request) => signLaunch(request, config.telegram),
    stopping: stopping.signal,
  });
  const url = await app.listen({ host: config.host, port: config.port });
  const following = started.follow().catch((error: unknown) => {
    logger.fatal({ err: error }, "the companion API refuses the rewards feed");
    process.exit(1);
  });
  onStopSignal({ logger }, async () => {
    stopping.abort();
    await following;
    await app.close();
  });
  logListening(logger, { url });
}

main().catch((error: unknown) => exitAfterStartFault("The demo bot", error));
