import { createAds } from "@intermission/publisher";
import { createCompanion, followRewards } from "@intermission/publisher/companion";
import { logListening, onStopSignal } from "@intermission/server/graceful-stop";
import { createLogger, type Logger } from "@intermission/server/logger";
import { StartFault, startFaultOf } from "@intermission/server/start-fault";
import { type AppOptions, createApp } from "./app.ts";
import { type CoinGardenConfig, type OwnBotConfig, readConfig } from "./config.ts";
import { eventFacts } from "./own-bot/event-facts.ts";
import { OwnBot } from "./own-bot/own-bot.ts";
import { signLaunch } from "./phone/sign-launch.ts";
import { companionFacts } from "./rewards/companion-facts.ts";
import { cursorFile } from "./rewards/cursor-file.ts";
import { publisherRewards } from "./rewards/publisher-rewards.ts";
import { createBot } from "./scenario/create-bot.ts";
import { SimulatedChat } from "./simulated-chat/simulated-chat.ts";

const now = () => new Date();

interface Setting {
  readonly config: ReturnType<typeof readConfig>;
  readonly logger: Logger;
  readonly chat: SimulatedChat;
  readonly stopping: AbortSignal;
}

interface Started extends Pick<AppOptions, "bot" | "botName" | "ownBot" | "whatHappened"> {
  /** Work beside the server, which ends with `stopping`. */
  readonly follow: () => Promise<void>;
}

/** The demo's own bot, whose backend is the companion API. */
function coinGarden(
  { apiUrl, apiKey, cooldownSeconds }: CoinGardenConfig,
  { config, logger, chat, stopping }: Setting,
): Started {
  const api = { url: apiUrl, apiKey };
  const companion = createCompanion(api);
  const bot = createBot({
    ...{ chat, rewards: publisherRewards(companion), cooldownSeconds, now },
    onTrouble: (error) => logger.warn({ err: error }, "a message could not be answered"),
  });
  const cursors = cursorFile(`${config.dataFolder}/rewards-cursor`);
  return {
    bot,
    whatHappened: companionFacts(companion, api),
    follow: () =>
      followRewards(companion, cursors, (entry) => bot.tell(entry), {
        signal: stopping,
        onError: (error) => logger.warn({ err: error }, "the rewards feed failed; retrying"),
      }),
  };
}

function botOfOnesOwn({ adServiceUrl, adApiToken, botName }: OwnBotConfig, { config, chat }: Setting): Started {
  const { miniappOrigin, telegram } = config;
  const { botId, botToken } = telegram;
  const ads = createAds({ url: adServiceUrl, token: adApiToken, botId });
  const bot = new OwnBot({ chat, ads, botId, botName, botToken, miniappOrigin, now });
  return { bot, botName, ownBot: bot, whatHappened: eventFacts(ads), follow: async () => {} };
}

async function main(): Promise<void> {
  const config = readConfig();
  const { backend, miniappOrigin } = config;
  const logger = createLogger({ level: config.logLevel, name: "demo-bot" });
  const chat = new SimulatedChat(now);
  const stopping = new AbortController();
  const setting = { config, logger, chat, stopping: stopping.signal };
  const { follow, ...started } =
    "adApiToken" in backend ? botOfOnesOwn(backend, setting) : coinGarden(backend, setting);
  const app = createApp({
    ...{ ...started, logger, chat, miniappOrigin, now },
    signLaunch: (request) => signLaunch(request, config.telegram),
    stopping: stopping.signal,
  });
  const url = await app.listen({ host: config.host, port: config.port }).catch((cause: unknown) => {
    const nextStep = "stop the program that listens there, or set PORT (for npm start: DEMO_BOT_PORT) to another";
    throw new StartFault(`port ${config.port} on ${config.host} is not available: ${nextStep}`, { cause });
  });
  const following = follow().catch((error: unknown) => {
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

main().catch((error: unknown) => {
  const fault = startFaultOf(error);
  console.error(fault === undefined ? error : `The demo bot could not start: ${fault}`);
  process.exit(1);
});
