import { amountOf } from "@intermission/operator-api/amounts";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { type TimelineStep, timelineDetails } from "@intermission/operator-api/timeline";
import { type DetailFormats, detailText, timelineInEnglish } from "@intermission/operator-api/timeline-in-english";
import { withExamples } from "@intermission/server/command-line";
import { limitUpTo, telegramIdOption } from "@intermission/server/command-options";
import { type Row, recordOf, rowsOf, tableOf, textOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";

export function userCommands(program: Command, context: CommandContext): void {
  const users = program.command("users").description("people who used a bot");

  withExamples(users.command("show").description("what happened to a user's codes, from the code to the paid event"), [
    "users show --bot-id 7000000001 --user-id 100000001",
    "users show --bot-id 7000000001 --user-id 100000001 --codes 50 --json",
  ])
    .requiredOption("--bot-id <id>", "Telegram id of the bot", telegramIdOption)
    .requiredOption("--user-id <id>", "Telegram id of the user", telegramIdOption)
    .option("--codes <number>", "the latest codes of the user, up to 100", limitUpTo(100), 10)
    .action(async ({ botId, userId, codes }: { botId: string; userId: string; codes: number }) => {
      const input = { params: { botId, userId }, query: { codes: String(codes) } };
      const answer = await callForRow(context, operatorRequest("readTimelineOfUser", input));
      const notes = [
        answer.hasOlder === true && "There are older codes: --codes takes a higher number.",
        answer.isComplete === false &&
          "Codes that were replaced before they earned anything may be missing: the search took longer than DATABASE_STATEMENT_TIMEOUT_SECONDS.",
      ].filter((note) => note !== false);
      context.print(answer, () =>
        [timelineText(answer), ...notes.map((note) => `\n${note}`), "", ledgerHint(userId)].join("\n"),
      );
    });

  withExamples(users.command("erase").description("count what is kept of a user; with --yes erase it for good"), [
    "users erase --bot-id 7000000001 --user-id 100000001",
    "users erase --bot-id 7000000001 --user-id 100000001 --yes",
  ])
    .requiredOption("--bot-id <id>", "Telegram id of the bot", telegramIdOption)
    .requiredOption("--user-id <id>", "Telegram id of the user", telegramIdOption)
    .option("--yes", "erase it; without it, the records are only counted")
    .action(async ({ botId, userId, yes = false }: { botId: string; userId: string; yes?: boolean }) => {
      const name = yes ? "eraseUser" : "countRecordsOfUser";
      const answer = await callForRow(context, operatorRequest(name, { params: { botId, userId } }));
      context.print(answer, () => summaryOf(answer, userId));
    });
}

export function codeCommands(program: Command, context: CommandContext): void {
  const codes = program.command("codes").description("codes that bots' backends requested");
  withExamples(codes.command("show").description("what happened to a code, from its issue to the paid event"), [
    "codes show 2fFCJkQ6m9WuTzRb",
  ])
    .argument("<code>", "as codes.create returned it")
    .action(async (code: string) => {
      const answer = await callForRow(context, operatorRequest("readTimelineOfCode", { params: { code } }));
      context.print(answer, () => [timelineText(answer), "", ledgerHint(String(answer.userId))].join("\n"));
    });
}

/** The ledger belongs to the publisher: its entries have the same event ids. */
const ledgerHint = (userId: string) =>
  `What the publisher paid for these events: pnpm api rewards list --user-id ${userId}`;

/** In the order of time. The code has a column where there may be several. */
function timelineText(answer: Row): string {
  const { entries: _entries, hasOlder: _hasOlder, isComplete: _isComplete, currency, ...facts } = answer;
  const columns = {
    AT: (entry: Row) => entry.at,
    STEP: (entry: Row) => entry.step,
    [`AMOUNT ${currency}`]: ({ amountMicros }: Row) =>
      typeof amountMicros === "number" ? amountOf(amountMicros) : undefined,
    DETAILS: ({ details, campaignId, creativeId, step }: Row) =>
      [...textsOf(details), ...(stepsWithAd.has(String(step)) ? [campaignId, creativeId] : [])]
        .filter(Boolean)
        .join(", "),
    ...(facts.code === undefined && { CODE: (entry: Row) => entry.code }),
    ID: (entry: Row) => entry.id,
  };
  return `${recordOf(facts)}\n\n${tableOf(rowsOf(answer, "entries"), columns)}`;
}

const textsOf = (details: unknown) =>
  timelineDetails.parse(details).map((detail) => detailText(timelineInEnglish, detail, formats));

const formats: DetailFormats = {
  dateTime: (at) => textOf(at.toISOString()),
  number: String,
  seconds: (value) => `${value} s`,
  milliseconds: (value) => `${value} ms`,
};

/** The other steps of a view or a click have the same ad. */
const stepsWithAd = new Set<string>(["ad-requested", "click-held", "click-refused", "earned"] satisfies TimelineStep[]);

function summaryOf(answer: Row, userId: string): string {
  const tables = rowsOf(answer, "tables");
  if (tables.length === 0) return `nothing is kept of user ${userId}`;
  const { undelivered } = answer;
  const webhooks = Number(undelivered) > 0 ? `${undelivered} webhooks that were not delivered` : undefined;
  const end = answer.isErased
    ? ["Erased for good.", ...(webhooks ? [`${webhooks} were cancelled.`] : [])]
    : [
        "Nothing was changed. Erase it for good with: --yes",
        ...(webhooks ? [`${webhooks} would be cancelled, and not paid: wait for them, or see: deliveries list`] : []),
      ];
  return `${tableOf(tables, columns)}\n\n${end.join("\n")}`;
}

const columns = {
  TABLE: (table: Row) => table.table,
  ROWS: (table: Row) => table.rows,
  BECOMES: (table: Row) => table.becomes,
};
