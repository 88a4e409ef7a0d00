import type { NamedRewards } from "@intermission/ad-core/client-api";
import { type Bot, botSettings, type RewardUnit } from "@intermission/operator-api/bots";
import { storedNames } from "@intermission/operator-api/stored-names";
import type { ColumnsOf } from "@intermission/postgres/row-columns";
import { InvalidArgumentError } from "commander";

interface RewardSettings {
  rewardPerView: number | null;
  rewardPerClick: number | null;
  rewardUnit: RewardUnit | null;
}

/** The rewards that the bot's users are shown; undefined if the bot names none. */
export function namedRewardsOf(bot: RewardSettings): NamedRewards | undefined {
  const { rewardPerView, rewardPerClick, rewardUnit: unit } = bot;
  if (unit === null || (rewardPerView === null && rewardPerClick === null)) return undefined;
  return {
    ...(rewardPerView !== null && { rewarded: { amount: rewardPerView, unit } }),
    ...(rewardPerClick !== null && { direct_link: { amount: rewardPerClick, unit } }),
  };
}

/** Parses `--reward-unit`, one language each time: `en:one=coin,other=coins`. `none` stays: commander makes null a text. */
export function rewardUnitOption(text: string, earlier: RewardUnit | "none" = {}): RewardUnit | "none" {
  if (text === "none") return text;
  const [, language = "", list = ""] = /^([A-Za-z-]{2,35}):(.+)$/.exec(text) ?? [];
  const forms = list.split(",").map((form) => /^([a-z]+)=(.+)$/.exec(form.trim()) ?? []);
  if (forms.some(([whole]) => whole === undefined))
    throw new InvalidArgumentError("It must be a language and its plural forms, such as en:one=coin,other=coins.");
  const words = Object.fromEntries(forms.map(([, category = "", name = ""]) => [category, name]));
  return { ...(earlier !== "none" && earlier), [language]: words };
}

/** The columns of `bots` that hold settings; its endpoint is a separate row. */
export const settingColumns = storedNames(botSettings.omit({ webhookUrl: true }).keyof().options);

/** The columns of `bots` that name its files below `/media/`. */
export const pictureColumns = {
  pictureFileName: "picture_file_name",
  unitIconFileName: "unit_icon_file_name",
} satisfies ColumnsOf<Pick<Bot, "pictureFileName" | "unitIconFileName">>;
