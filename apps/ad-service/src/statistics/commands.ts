import { type Command, Option } from "commander";
import { type CommandContext, callForRow, withExamples } from "../operator/command-context.ts";
import { momentOption, telegramIdOption } from "../operator/parse-option.ts";
import { showStats, statsAnswer, statsCsv } from "./show-stats.ts";

interface StatsOptions {
  botId?: string;
  campaignId?: string;
  creativeId?: string;
  from?: Date;
  to?: Date;
  by: string;
  csv?: boolean;
}

export function statsCommands(program: Command, context: CommandContext): void {
  withExamples(program.command("stats").description("requests, fills, views, clicks, refusals and revenue"), [
    "stats",
    "stats --bot-id 7000000001 --from 30d --by campaign",
    "stats --from 2026-03-01 --to 2026-04-01 --by bot --csv",
  ])
    .option("--bot-id <id>", "of one bot only", telegramIdOption)
    .option("--campaign-id <id>", "of one campaign only")
    .option("--creative-id <id>", "of one creative only")
    .option("--from <moment>", "such as 2026-03-01 or 7d (default: a week, today included)", momentOption)
    .option("--to <moment>", "the end, exclusive (default: now)", momentOption)
    .addOption(
      new Option("--by <what>", "what each line sums up")
        .choices(["hour", "day", "bot", "campaign", "creative"])
        .default("day"),
    )
    .option("--csv", "comma-separated values, for spreadsheets")
    .action(async ({ botId, campaignId, creativeId, from, to, by, csv }: StatsOptions) => {
      const query = {
        ...{ botId, campaignId, creativeId, by },
        ...{ from: from?.toISOString(), to: to?.toISOString() },
      };
      const answer = await callForRow(context, { method: "GET", path: "/stats", query });
      context.print(answer, () => (csv ? statsCsv(statsAnswer.parse(answer)) : showStats(statsAnswer.parse(answer))));
    });
}
