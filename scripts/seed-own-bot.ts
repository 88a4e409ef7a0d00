import type { DemoSecrets } from "./demo-secrets.ts";
import { Problem } from "./say.ts";
import { oneMachine } from "./seed-demo.ts";
import type { OwnBotOptions } from "./start-options.ts";

interface Seed {
  /** The operator's command line, with the ad service running. */
  readonly ads: (commandArguments: readonly string[]) => Promise<string>;
  readonly adServiceUrl: string;
  readonly apiUrl: string;
  readonly bot: OwnBotOptions;
  readonly secrets: DemoSecrets;
  readonly cooldownSeconds: number;
  readonly dailyCap: number;
}

export interface SeededBot {
  readonly name: string;
  readonly apiToken: string;
  readonly webhookUrl: string;
}

/** The addresses of a bot in the ad service; null where it has none. */
interface BotAddresses {
  readonly webhookUrl: string | null;
  readonly publisherApiUrl: string | null;
}

/** Adds a bot of one's own to the ad service if it is missing, sets its webhook, and returns what its program needs. */
export async function seedOwnBot(seed: Seed): Promise<SeededBot> {
  const { ads, apiUrl, bot, secrets, adServiceUrl, cooldownSeconds, dailyCap } = seed;
  const { botId } = bot;
  if (botId === secrets.botId)
    throw new Problem(`${botId} is the demo's own bot.`, "Choose another number for yours, or start without --bot.");
  const bots: ({ botId: string; name: string } & BotAddresses)[] = JSON.parse(await ads(["bots", "list", "--json"]));
  const found = bots.find((known) => known.botId === botId);
  const addresses = chooseAddresses(found, bot.webhookUrl, apiUrl);
  const { webhookUrl, publisherApiUrl } = addresses;
  const settings = ["--webhook-url", webhookUrl, "--publisher-api-url", publisherApiUrl ?? "none"];
  if (found === undefined) {
    const limits = ["--cooldown", String(cooldownSeconds), "--daily-cap", String(dailyCap), ...oneMachine];
    const words = ["bots", "add", "--bot-id", botId, "--name", "My bot", ...settings, ...limits, "--json"];
    const added: { name: string; token: string } = JSON.parse(await ads(words));
    return { name: added.name, apiToken: added.token, webhookUrl };
  }
  const apiToken = bot.apiToken ?? secrets.ownBots?.[botId];
  if (apiToken === undefined)
    throw new Problem(
      `The bot ${botId} was added before, and its API token was shown only then.`,
      `Give it: AD_API_TOKEN=ad_… npm start -- --bot ${botId}`,
    );
  await assertAccepted(adServiceUrl, botId, apiToken);
  const isChanged = found.webhookUrl !== webhookUrl || found.publisherApiUrl !== publisherApiUrl;
  if (isChanged) await ads(["bots", "update", botId, ...settings]);
  return { name: found.name, apiToken, webhookUrl };
}

/**
 * Where a bot's webhooks go, and where the mini-app reads what they paid: to the address of `--webhook-url`; without one,
 * to the bot's own address; without any, to the companion API. The companion API's addresses of an earlier start follow it
 * to other ports, and end with a webhook address of the bot's own.
 */
export function chooseAddresses(
  found: BotAddresses | undefined,
  webhookUrl: string | undefined,
  apiUrl: string,
): { webhookUrl: string; publisherApiUrl: string | null } {
  const { webhookUrl: known = null, publisherApiUrl = null } = found ?? {};
  const isCompanion = publisherApiUrl !== null && known === companionWebhook(publisherApiUrl);
  if (webhookUrl !== undefined) return { webhookUrl, publisherApiUrl: isCompanion ? null : publisherApiUrl };
  if (known !== null && !isCompanion) return { webhookUrl: known, publisherApiUrl };
  return { webhookUrl: companionWebhook(apiUrl), publisherApiUrl: apiUrl };
}

const companionWebhook = (apiUrl: string) => `${apiUrl}/webhooks/ads`;

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
