import type { ShownReason } from "@intermission/ad-core/player-api";
import type { Targeting } from "@intermission/operator-api/campaigns";

/** The reason that each target of a campaign is for its viewers. */
const reasons = {
  bots: "bot",
  botCategories: "bot",
  excludedBots: "bot",
  excludedBotCategories: "bot",
  languages: "language",
  platforms: "platform",
  countries: "country",
  premium: "premium",
  hours: "time",
  weekdays: "time",
} satisfies Record<keyof Targeting, Exclude<ShownReason, "network">>;

const targets = Object.keys(reasons) as (keyof Targeting)[];

/** What a campaign's targeting compares viewers with, each once. None: it is shown to everybody. */
export function shownReasons(targeting: Targeting): ShownReason[] {
  const used = targets.filter((target) => targeting[target] !== undefined).map((target) => reasons[target]);
  return [...new Set(used)];
}
