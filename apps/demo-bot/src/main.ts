import { onStopSignal } from "@intermission/server/graceful-stop";
import { createLogger } from "@intermission/server/logger";
import { StartFault, startFaultOf } from "@intermission/server/start-fault";
import { createApp } from "./app.ts";
import { readConfig } from "./config.ts";
import { signLaunch } from "./phone/sign-launch.ts";
import { followRewards } from "./rewards/follow-rewards.ts";
import { createPublisherApi } from "./rewards/publisher-api.ts";
import { publisherRewards } from "./rewards/publisher-rewards.ts";
import { createBot } from "./scenario/create-bot.ts";
import { SimulatedChat } from "./simulated-chat/simulated-chat.ts";

async function main(): Promise<void> {
  const config = readConfig();
  const { cooldownSeconds, miniappOrigin } = config;
  const logger = createLogger({ level: config.logLevel, name: "demo-bot" });
  const now = () => new Date();
  const api = createPublisherApi({ url: config.apiUrl, apiKey: config.backendApiKey });
  const chat = new SimulatedChat(now);
  const bot = createBot({
    ...{ chat, rewards: publisherRewards(api), cooldownSeconds, now },
    onTrouble: (error) => logger.warn({ err: error }, "a message could not be answered"),
  });
  const stopping = new AbortController();
  const app = createApp({
    ...{ logger, api, chat, bot, miniappOrigin, now },
    signLaunch: (request) => signLaunch(request, config.telegram),
    stopping: stopping.signal,
  });
  const url = await app.listen({ host: config.host, port: config.port }).catch((cause: unknown) => {
    const nextStep = "stop the program that listens there, or set PORT (for npm start: DEMO_BOT_PORT) to another";
    throw new StartFault(`port ${config.port} on ${config.host} is not available: ${nextStep}`, { cause });
  });
  const following = followRewards({
    api,
    file: `${config.dataFolder}/rewards-cursor`,
    onEntry: (entry) => bot.tell(entry),
    onTrouble: (error) => logger.warn({ err: error }, "the rewards feed failed; retrying"),
  });
  onStopSignal(
    async () => {
      stopping.abort();
      await following.stop();
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
