import { operatorRoutes } from "@intermission/operator-api/operator-routes";
import { type TimelineStep, timelineDetails } from "@intermission/operator-api/timeline";
import {
  blocksInEnglish,
  type DetailFormats,
  detailText,
  timelineInEnglish,
  verdictsInEnglish,
} from "@intermission/operator-api/timeline-in-english";
import { type Columns, recordOf, tableOf, textOf } from "@intermission/server/command-tables";
import { addInput, callRoute, subject, verb, type WireAnswer } from "@intermission/server/route-commands";

const ofUser = { botId: "Telegram id of the bot", userId: "Telegram id of the user" } as const;

export const userCommands = subject("users", "people who used a bot", {
  show: verb("readTimelineOfUser", {
    description: "what happened to a user's codes, from the code to the paid event",
    examples: ["--bot-id 7000000001 --user-id 100000001", "--bot-id 7000000001 --user-id 100000001 --codes 50 --json"],
    options: { ...ofUser, codes: { text: "the latest codes of the user", value: "number" } },
    text: ({ hasOlder, isComplete, currency, entries, codes, blocked, ...facts }) => {
      const notes = [
        ...(hasOlder ? ["There are older codes: --codes takes a higher number."] : []),
        ...(isComplete
          ? []
          : [
              "Codes that were replaced before they earned anything may be missing: the search took longer than DATABASE_STATEMENT_TIMEOUT_SECONDS.",
            ]),
      ];
      const [latest] = codes;
      const verdicts = [
        ...(latest ? [`Latest code: ${verdictsInEnglish[latest.verdict]}`] : []),
        ...(blocked ? [`No ad now: ${blocksInEnglish[blocked.reason]}.`] : []),
      ];
      return [...verdicts, timelineText(facts, entries, currency), ...notes, ledgerHint(facts.userId)].join("\n\n");
    },
  }),
  erase: (command, context) => {
    const readInput = addInput<"eraseUser">(command, operatorRoutes.eraseUser, {
      description: "count what is kept of a user; with --yes erase it for good",
      examples: ["--bot-id 7000000001 --user-id 100000001", "--bot-id 7000000001 --user-id 100000001 --yes"],
      options: ofUser,
    });
    command.option("--yes", "erase it; without it, the records are only counted").action(async () => {
      const name = command.opts().yes === true ? "eraseUser" : "countRecordsOfUser";
      const answer = await callRoute(context, name, await readInput(context));
      context.print(answer, () => summaryOf(answer));
    });
  },
});

export const codeCommands = subject("codes", "codes that bots' backends requested", {
  show: verb("readTimelineOfCode", {
    description: "what happened to a code, from its issue to the paid event",
    arguments: ["code"],
    options: { code: { text: "as codes.create returned it", example: "2fFCJkQ6m9WuTzRb" } },
    text: ({ currency, entries, verdict, ...facts }) =>
      [verdictsInEnglish[verdict], timelineText(facts, entries, currency), ledgerHint(facts.userId)].join("\n\n"),
  }),
});

/** The ledger belongs to the publisher: its entries have the same event ids. */
const ledgerHint = (userId: string) =>
  `What the publisher paid for these events: pnpm api rewards list --user-id ${userId}`;

type Entry = WireAnswer<"readTimelineOfUser">["entries"][number];

/** In the order of time. The code has a column where there may be several. */
function timelineText(facts: object, entries: readonly Entry[], currency: string): string {
  const columns: Columns<Entry> = {
    AT: "at",
    STEP: "step",
    [`AMOUNT ${currency}`]: "amountMicros",
    DETAILS: ({ details, campaignId, creativeId, step }) =>
      [...textsOf(details), ...(stepsWithAd.has(step) ? [campaignId, creativeId] : [])].filter(Boolean).join(", "),
    ...(!("code" in facts) && { CODE: "code" }),
    ID: "id",
  };
  return `${recordOf({ ...facts })}\n\n${tableOf(entries, columns)}`;
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

function summaryOf({ tables, userId, undelivered, isErased }: WireAnswer<"eraseUser">): string {
  if (tables.length === 0) return `nothing is kept of user ${userId}`;
  const webhooks = undelivered > 0 ? `${undelivered} webhooks that were not delivered` : undefined;
  const end = isErased
    ? ["Erased for good.", ...(webhooks ? [`${webhooks} were cancelled.`] : [])]
    : [
        "Nothing was changed. Erase it for good with: --yes",
        ...(webhooks ? [`${webhooks} would be cancelled, and not paid: wait for them, or see: deliveries list`] : []),
      ];
  return `${tableOf(tables, { TABLE: "table", ROWS: "rows", BECOMES: "becomes" })}\n\n${end.join("\n")}`;
}
