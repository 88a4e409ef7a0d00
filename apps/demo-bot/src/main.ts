import { createCompanion, followRewards } from "@intermission/publisher/companion";
import { onStopSignal } from "@intermission/server/graceful-stop";
import { createLogger } from "@intermission/server/logger";
import { StartFault, startFaultOf } from "@intermission/server/start-fault";
import { createApp } from "./app.ts";
import { readConfig } from "./config.ts";
import { signLaunch } from "./phone/sign-launch.ts";
import { companionFacts } from "./rewards/companion-facts.ts";
import { cursorFile } from "./rewards/cursor-file.ts";
import { publisherRewards } from "./rewards/publisher-rewards.ts";
import { createBot } from "./scenario/create-bot.ts";
import { SimulatedChat } from "./simulated-chat/simulated-chat.ts";

async function main(): Promise<void> {
  const config = readConfig();
  const { cooldownSeconds, miniappOrigin } = config;
  const logger = createLogger({ level: config.logLevel, name: "demo-bot" });
  const now = () => new Date();
  const companion = createCompanion({ url: config.apiUrl, apiKey: config.backendApiKey });
  const chat = new SimulatedChat(now);
  const bot = createBot({
    ...{ chat, rewards: publisherRewards(companion), cooldownSeconds, now },
    onTrouble: (error) => logger.warn({ err: error }, "a message could not be answered"),
  });
  const stopping = new AbortController();
  const app = createApp({
    ...{ logger, chat, bot, miniappOrigin, now },
    whatHappened: companionFacts(companion, { url: config.apiUrl, apiKey: config.backendApiKey }),
    signLaunch: (request) => signLaunch(request, config.telegram),
    stopping: stopping.signal,
  });
  const url = await app.listen({ host: config.host, port: config.port }).catch((cause: unknown) => {
    const nextStep = "stop the program that listens there, or set PORT (for npm start: DEMO_BOT_PORT) to another";
    throw new StartFault(`port ${config.port} on ${config.host} is not available: ${nextStep}`, { cause });
  });
  const cursors = cursorFile(`${config.dataFolder}/rewards-cursor`);
  const following = followRewards(companion, cursors, (entry) => bot.tell(entry), {
    signal: stopping.signal,
    onError: (error) => logger.warn({ err: error }, "the rewards feed failed; retrying"),
  }).catch((error: unknown) => {
    logger.fatal({ err: error }, "the companion API refuses the rewards feed");
    process.exit(1);
  });
  onStopSignal(
    async () => {
      stopping.abort();
      await following;
      await app.close();
    },
    { logger },
  );
  // Logged at any LOG_LEVEL: the parent process waits for this line.
  logger.child({}, { level: "info" }).info({ url }, "listening");
}

main().catch((error: unknown) => {
  const fault = startFaultOf(error);
  console.error(fault === undefined ? error : `The demo bot could not start: ${fault}`);
  process.exit(1);
});
