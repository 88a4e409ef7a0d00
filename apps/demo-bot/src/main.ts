import { onStopSignal } from "@intermission/http-server/graceful-stop";
import { createLogger } from "@intermission/http-server/logger";
import { createApp } from "./app.ts";
import { Conversations } from "./chat/conversations.ts";
import { readConfig } from "./config.ts";
import { followRewards } from "./follow-rewards.ts";
import { signLaunch } from "./phone/sign-launch.ts";
import { createPublisherApi } from "./publisher-api.ts";
import { publisherRewards } from "./publisher-rewards.ts";
import { phrasesOf } from "./scenario/phrases.ts";
import { announceReward } from "./scenario/scenario.ts";

async function main(): Promise<void> {
  const config = readConfig();
  const logger = createLogger({ level: config.logLevel, name: "demo-bot" });
  const api = createPublisherApi({ url: config.apiUrl, apiKey: config.backendApiKey });
  const conversations = new Conversations();
  const stopping = new AbortController();
  const app = createApp({
    logger,
    api,
    conversations,
    rewards: publisherRewards(api),
    cooldownSeconds: config.cooldownSeconds,
    miniappOrigin: config.miniappOrigin,
    signLaunch: (request) => signLaunch(request, config.telegram),
    stopping: stopping.signal,
    now: () => new Date(),
  });
  const url = await app.listen({ host: config.host, port: config.port });
  const following = followRewards({
    api,
    cursorFile: `${config.dataFolder}/rewards-cursor`,
    onEntry(entry) {
      const said = announceReward(entry, phrasesOf(conversations.languageOf(entry.userId)));
      // A feed may repeat its last entry after a crash; the entry's id keeps the bot from saying it twice.
      if (said) conversations.say(entry.userId, "bot", said, new Date(), `reward-${entry.entryId}`);
    },
    onTrouble: (error) => logger.warn({ err: error }, "the feed of rewards broke; trying again"),
  });
  onStopSignal(
    async () => {
      following.stop();
      stopping.abort();
      await app.close();
    },
    { logger },
  );
  logger.info({ url }, "listening");
}

main().catch((error: unknown) => {
  console.error(`The demo bot could not start: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
});
