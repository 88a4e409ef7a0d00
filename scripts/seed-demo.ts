import type { DemoSecrets } from "./demo-secrets.ts";

interface Seed {
  /** The operator's command line, with the ad service running. */
  readonly ads: (commandArguments: readonly string[]) => Promise<string>;
  readonly secrets: DemoSecrets;
  readonly urls: { readonly api: string; readonly demoBot: string };
  readonly webhookUrl: string;
  /** The video of the house campaign. */
  readonly video: string;
  /** Its poster, which is also the picture of the end card; without it the server makes one, if it has ffmpeg. */
  readonly poster?: string | undefined;
  readonly cooldownSeconds: number;
  readonly dailyCap: number;
  readonly isRewardNamed?: boolean | undefined;
  readonly pictures?: BotPictures | undefined;
}

/** Files of the bot's picture and of the icon of its unit: small squares, which need no ffmpeg. */
export interface BotPictures {
  readonly bot: string;
  readonly unit: string;
}

export const demoReward = { perView: 10, perClick: 3, perTask: 5 };
// biome-ignore format: packed
const unit = [
  "en:one=coin,other=coins", "ru:one=монета,few=монеты,many=монет,other=монеты",
  "es:one=moneda,other=monedas", "ar:one=عملة,two=عملتان,few=عملات,many=عملة,other=عملة",
  "uk:one=монета,few=монети,many=монет,other=монети", "pt:one=moeda,other=moedas", "de:one=Münze,other=Münzen",
  "fr:one=pièce,other=pièces", "it:one=moneta,other=monete", "tr:one=jeton,other=jeton",
  "uz:one=tanga,other=tanga", "id:other=koin", "vi:other=xu",
  "hi:one=सिक्का,other=सिक्के", "fa:one=سکه,other=سکه",
];

// biome-ignore format: packed
const namedReward = [
  "--reward-per-view", String(demoReward.perView), "--reward-per-click", String(demoReward.perClick),
  ...unit.flatMap((forms) => ["--reward-unit", forms]),
];

/** All visitors of a demo come from one machine, which would else look like a click farm. */
export const oneMachine = ["--suspicious-clicks", "pay"];

/**
 * Adds the demo's bot and its house campaigns to the ad service and returns the bot's API token. Adds only what is missing
 * and updates addresses, so the next start repairs the data of a killed start or of a start with other ports.
 */
export async function seedDemo(seed: Seed): Promise<string> {
  const [adApiToken] = await Promise.all([seedBot(seed), seedCampaigns(seed)]);
  return adApiToken;
}

async function seedBot({
  ads,
  secrets,
  urls,
  webhookUrl,
  cooldownSeconds,
  dailyCap,
  isRewardNamed = false,
  pictures,
}: Seed): Promise<string> {
  const { botId } = secrets;
  // The demo's game, by both names of this machine.
  const game = [urls.demoBot, urls.demoBot.replace("127.0.0.1", "localhost")];
  const origins = game.flatMap((origin) => ["--app-origin", origin]);
  const addresses = ["--webhook-url", webhookUrl, "--publisher-api-url", urls.api, ...origins];
  const bots: { botId: string }[] = JSON.parse(await ads(["bots", "list", "--json"]));
  if (!bots.some((bot) => bot.botId === botId)) {
    const added: { token: string } = JSON.parse(
      // biome-ignore format: packed
      await ads([
        "bots", "add", "--bot-id", botId, "--name", "Coin Garden", "--username", "coin_garden_bot", ...addresses,
        "--cooldown", String(cooldownSeconds), "--daily-cap", String(dailyCap), ...oneMachine, "--json",
        ...(isRewardNamed ? namedReward : []),
      ]),
    );
    if (pictures !== undefined) {
      await ads(["bots", "picture", botId, pictures.bot]);
      await ads(["bots", "unit-icon", botId, pictures.unit]);
    }
    return added.token;
  }
  await ads(["bots", "update", botId, ...addresses]);
  if (secrets.adApiToken !== undefined) return secrets.adApiToken;
  // The bot exists, but its token, which is shown only once, was not stored.
  const created: { token: string; tokenId: string } = JSON.parse(
    await ads(["tokens", "create", "--bot-id", botId, "--json"]),
  );
  await ads(["tokens", "activate", created.tokenId, "--bot-id", botId]);
  return created.token;
}

async function seedCampaigns(seed: Seed): Promise<void> {
  const { ads, urls } = seed;
  const landingPage = `${urls.demoBot}/landing`;
  const demoCampaigns = [
    {
      name: "House video",
      landingUrl: landingPage,
      hasVideo: true,
      others: ["--format", "rewarded", "interstitial", "--call-to-action", "Learn more"],
    },
    {
      name: "House link",
      landingUrl: `${landingPage}?click={click_id}`,
      hasVideo: false,
      others: ["--format", "direct_link"],
    },
  ];
  const campaigns: { campaignId: string; name: string }[] = JSON.parse(await ads(["campaigns", "list", "--json"]));
  for (const { name, landingUrl, hasVideo, others } of demoCampaigns) {
    const found = campaigns.find((campaign) => campaign.name === name);
    if (found) await ads(["campaigns", "update", found.campaignId, "--landing-url", landingUrl]);
    else
      // biome-ignore format: packed
      await ads([
        "campaigns", "add", "--name", name, "--advertiser", "Intermission", "--priority", "house",
        "--landing-url", landingUrl, ...others, ...(hasVideo ? await addedVideo(seed) : []),
      ]);
  }
}

/** A campaign is added with a video's file, or with the id of one that has got its poster. */
async function addedVideo({ ads, video, poster }: Seed): Promise<string[]> {
  if (poster === undefined) return ["--video", video];
  const added: { creativeId: string } = JSON.parse(
    await ads(["creatives", "add", video, "--poster", poster, "--json"]),
  );
  return ["--creative", added.creativeId];
}
