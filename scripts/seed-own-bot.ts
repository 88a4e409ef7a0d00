import type { DemoSecrets } from "./demo-secrets.ts";
import { Problem } from "./say.ts";
import type { OwnBotOptions } from "./start-options.ts";

interface Seed {
  /** The operator's command line, with the ad service running. */
  readonly ads: (commandArguments: readonly string[]) => Promise<string>;
  readonly adServiceUrl: string;
  readonly bot: OwnBotOptions;
  readonly secrets: DemoSecrets;
  readonly cooldownSeconds: number;
  readonly dailyCap: number;
}

/** Adds a bot of one's own to the ad service if it is missing, sets its webhook, and returns its name and its API token. */
export async function seedOwnBot(seed: Seed): Promise<{ name: string; apiToken: string }> {
  const { ads, bot, secrets, adServiceUrl, cooldownSeconds, dailyCap } = seed;
  const { botId, webhookUrl } = bot;
  if (botId === secrets.botId)
    throw new Problem(`${botId} is the demo's own bot.`, "Choose another number for yours, or start without --bot.");
  const webhook = webhookUrl === undefined ? [] : ["--webhook-url", webhookUrl];
  const bots: { botId: string; name: string }[] = JSON.parse(await ads(["bots", "list", "--json"]));
  const found = bots.find((known) => known.botId === botId);
  if (found === undefined) {
    const limits = ["--cooldown", String(cooldownSeconds), "--daily-cap", String(dailyCap)];
    const words = ["bots", "add", "--bot-id", botId, "--name", "My bot", ...webhook, ...limits, "--json"];
    const added: { name: string; token: string } = JSON.parse(await ads(words));
    return { name: added.name, apiToken: added.token };
  }
  const apiToken = bot.apiToken ?? secrets.ownBots?.[botId];
  if (apiToken === undefined)
    throw new Problem(
      `The bot ${botId} was added before, and its API token was shown only then.`,
      `Give it: AD_API_TOKEN=ad_… npm start -- --bot ${botId}`,
    );
  await assertAccepted(adServiceUrl, botId, apiToken);
  if (webhook.length > 0) await ads(["bots", "update", botId, ...webhook]);
  return { name: found.name, apiToken };
}

async function assertAccepted(adServiceUrl: string, botId: string, apiToken: string): Promise<void> {
  const body = JSON.stringify({ bot_id: botId, user_tg_id: botId, reference: "npm start" });
  const response = await fetch(`${adServiceUrl}/client/v1/codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiToken}`, "content-type": "application/json" },
    body,
  });
  await response.body?.cancel();
  if (response.status !== 401 && response.status !== 403) return;
  throw new Problem(
    `The ad service does not accept AD_API_TOKEN for the bot ${botId}.`,
    `Make another: ./pnpm ads tokens create --bot-id ${botId}, while npm start runs without --bot.`,
  );
}
