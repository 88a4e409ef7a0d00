import { type Columns, textOf } from "@intermission/server/command-tables";
import type { CommandContext } from "@intermission/server/operator-client";
import { list, type WireAnswer } from "@intermission/server/route-commands";
import type { Command } from "commander";
import type { ExclusionReason } from "./eligibility.ts";

type Explanation = WireAnswer<"explainChoice">;
type Verdict = Explanation["campaigns"][number];

export function explainCommand(program: Command, context: CommandContext): void {
  const add = list("explainChoice", "campaigns", {
    description: "show why a user is or is not shown each campaign, now",
    examples: [
      "--bot-id 7000000001 --user-id 100000001",
      "--bot-id 7000000001 --user-id 100000001 --format direct_link --language en --platform android",
    ],
    options: {
      format: "a video, a link, or an interstitial",
      language: { text: "as Telegram reports it, such as en", value: "code" },
      platform: { text: "of the user's client", value: "name" },
      country: { text: "the user's, such as DE", value: "code" },
      premium: { text: "whether the user has Telegram Premium", value: "who" },
    },
    columns: columnsOf,
    text: (_campaigns, { blocked }, table) => `${blockText(blocked)}${table}`,
  });
  add(program.command("explain"), context);
}

/** Of a blocked user: what would be shown, if nothing were in the way of all ads. */
function columnsOf({ blocked }: Explanation): Columns<Verdict> {
  const fit = ({ likelihood }: Verdict) =>
    blocked === undefined ? (likelihood > 0 ? "fits" : "fits; others go first") : "would fit";
  return {
    CAMPAIGN: "campaignId",
    NAME: "name",
    PRIORITY: "priority",
    "CHOSEN NOW": ({ likelihood }) => `${(likelihood * 100).toFixed(1)} %`,
    WHY: (verdict) => reasonText(verdict.exclusionReason, fit(verdict)) + lacking(verdict.missingFiles),
    // Below 0 it is ahead of its plan for the day; absent if it has no plan.
    "ADS BEHIND PLAN": ({ behindPlan }) => (behindPlan === undefined ? undefined : Math.round(behindPlan)),
  };
}

type Blocked = NonNullable<Explanation["blocked"]>;

const blocks = {
  "bot-suspended": "the bot is suspended",
  cooldown: "the user earned a moment ago, and the bot's cooldown is not over",
  "daily-cap": "the user has reached the bot's daily cap",
} satisfies Record<Blocked["reason"], string>;

/** Empty, or a line above the table. A server of another version may know more reasons: they are shown by their names. */
function blockText(blocked: Blocked | undefined): string {
  if (blocked === undefined) return "";
  const until = blocked.availableAt === null ? "" : `; an ad is possible from ${blocked.availableAt}`;
  return `No ad at all is shown now: ${blocks[blocked.reason] ?? blocked.reason}${until}\n\n`;
}

/** The text of each exclusion reason. */
const reasons = {
  "other-format": "is of another format",
  "no-video": "shows no video",
  "not-approved": "its videos are not approved",
  "no-vast-ad": "its VAST tag returned no ad",
  "not-started": "has not started",
  ended: "has ended",
  "blocked-category": "the bot blocks its category",
  "blocked-advertiser": "the bot blocks its advertiser",
  "other-bot": "is for other bots",
  "other-bot-category": "is for bots of other categories",
  "excluded-bot": "excludes this bot",
  "excluded-bot-category": "excludes bots of this category",
  "other-language": "is for other languages",
  "other-platform": "is for other platforms",
  "other-country": "is for other countries",
  "other-premium": "is for users with the other Telegram Premium status",
  "other-hour": "is for other hours",
  "other-weekday": "is for other weekdays",
  "total-budget": "has used up its budget",
  "daily-budget": "has used up its budget of the day",
  "total-view-cap": "has had all its views",
  "daily-view-cap": "has had its views of the day",
  "total-click-cap": "has had all its clicks",
  "daily-click-cap": "has had its clicks of the day",
  "advertiser-funds": "its advertiser has no money left",
  "user-cap": "the user has reached its cap per user",
  "ahead-of-plan": "is ahead of its plan for the day",
} satisfies Record<ExclusionReason, string>;

function reasonText(reason: ExclusionReason | undefined, fit: string): string {
  return reason === undefined ? fit : (reasons[reason] ?? textOf(reason));
}

function lacking(files: readonly string[] = []): string {
  if (files.length === 0) return "";
  const more = files.length > 1 ? ` and ${files.length - 1} more` : "";
  return `; files of its videos are missing on this node: ${files[0]}${more}`;
}
