import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { telegramIdOption } from "@intermission/server/command-options";
import { type Row, rowsOf, tableOf } from "@intermission/server/command-tables";
import type { CommandContext } from "@intermission/server/operator-client";
import { type Command, Option } from "commander";
import type { ExclusionReason } from "./eligibility.ts";

export function explainCommand(program: Command, context: CommandContext): void {
  withExamples(program.command("explain").description("show why a user is or is not shown each campaign, now"), [
    "explain --bot-id 7000000001 --user-id 100000001",
    "explain --bot-id 7000000001 --user-id 100000001 --format direct_link --language en --platform android",
  ])
    .requiredOption("--bot-id <id>", "Telegram id of the bot", telegramIdOption)
    .requiredOption("--user-id <id>", "Telegram id of the user", telegramIdOption)
    .addOption(
      new Option("--format <format>", "a video, or a link").choices(["rewarded", "direct_link"]).default("rewarded"),
    )
    .option("--language <code>", "as Telegram reports it, such as en")
    .addOption(new Option("--platform <name>", "of the user's client").choices(["android", "ios", "desktop", "web"]))
    .option("--country <code>", "the user's, such as DE")
    .addOption(new Option("--premium <who>", "whether the user has Telegram Premium").choices(["yes", "no"]))
    .action(async (query: Record<string, string>) => {
      const rows = rowsOf(await context.call(operatorRequest("explainChoice", { query })), "campaigns");
      context.print(rows, () => tableOf(rows, columns));
    });
}

const columns = {
  CAMPAIGN: (verdict: Row) => verdict.campaignId,
  NAME: (verdict: Row) => verdict.name,
  PRIORITY: (verdict: Row) => verdict.priority,
  "CHOSEN NOW": (verdict: Row) => `${(Number(verdict.likelihood) * 100).toFixed(1)} %`,
  WHY: (verdict: Row) =>
    (textOfReason(verdict.exclusionReason) ?? (Number(verdict.likelihood) > 0 ? "fits" : "fits; others go first")) +
    lacking(verdict.missingFiles),
  "ADS BEHIND PLAN": (verdict: Row) => behindPlan(verdict.behindPlan),
};

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

/** A server of another version may know more reasons: they are shown by their names. */
function textOfReason(reason: unknown): string | undefined {
  if (typeof reason !== "string") return undefined;
  return new Map<string, string>(Object.entries(reasons)).get(reason) ?? reason;
}

function lacking(files: unknown): string {
  if (!Array.isArray(files) || files.length === 0) return "";
  const more = files.length > 1 ? ` and ${files.length - 1} more` : "";
  return `; files of its videos are missing on this node: ${files[0]}${more}`;
}

/** Below 0 it is ahead of its plan for the day; undefined if it has no plan. */
function behindPlan(behind: unknown): number | undefined {
  return typeof behind === "number" ? Math.round(behind) : undefined;
}
