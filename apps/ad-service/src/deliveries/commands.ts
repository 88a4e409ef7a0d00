import type { ReplayScope } from "@intermission/operator-api/deliveries";
import { OperatorRefusal, withExamples } from "@intermission/server/command-line";
import { pastMomentOption, telegramIdOption } from "@intermission/server/command-options";
import { type Columns, recordOf, tableOf, textOf } from "@intermission/server/command-tables";
import type { CommandContext } from "@intermission/server/operator-client";
import { callRoute, list, subject, type Verb, verb, type WireAnswer } from "@intermission/server/route-commands";

const replay: Verb = (command, context) => {
  withExamples(command.description("send webhooks again: the same event_id, the same bytes"), [
    "deliveries replay evt_01932f6e-7b1c-7f2a-9c3d-5e6f708192a3",
    "deliveries replay --bot-id 7000000001 --failed-since 2h",
    "deliveries replay --bot-id 7000000001 --everything-since 2026-01-31T08:00:00Z --yes",
  ])
    .argument("[event-id]", "as shown by deliveries list")
    .option("--bot-id <id>", "of this bot", telegramIdOption)
    .option(
      "--failed-since <time>",
      "all failed deliveries of events since then: a date-time, or 90s, 30m, 2h, 3d",
      pastMomentOption,
    )
    .option("--everything-since <time>", "also delivered and waiting ones", pastMomentOption)
    .option("--yes", "send; without it, several deliveries are only counted")
    .action(async (eventId: string | undefined, options: ReplayOptions) => {
      const meant = whatIsMeant(eventId, options);
      if (meant === undefined) command.error(wrongUsage);
      else if (typeof meant === "string") await replayOne(context, meant);
      else await replayMany(context, meant, options.yes ?? false);
    });
};

export const deliveryCommands = subject("deliveries", "webhooks: what was sent, and what was answered", {
  list: list("listDeliveries", "deliveries", {
    description: "deliveries, newest first",
    examples: ["--bot-id 7000000001 --state failed", "--limit 10 --json"],
    options: { botId: "of one bot only", state: "in one state only", before: { value: "event-id" } },
    columns: {
      EVENT: "eventId",
      BOT: "botId",
      KIND: ({ isTest, event }) => (isTest ? "test" : event),
      USER: "userId",
      STATE: "state",
      ATTEMPTS: "attempts",
      "NEXT AT": "dueAt",
    },
  }),
  show: verb("showDelivery", {
    description: "show a delivery, its body, each attempt, and the reason for its state",
    arguments: ["eventId"],
    options: { eventId: { text: "as shown by deliveries list", example: "evt_01932f6e-7b1c-7f2a-9c3d-5e6f708192a3" } },
    text: textOfDelivery,
  }),
  replay,
});

interface ReplayOptions {
  botId?: string;
  failedSince?: Date;
  everythingSince?: Date;
  yes?: boolean;
}

interface Range {
  botId: string;
  scope: ReplayScope;
  since: string;
}

const wrongUsage = "error: name an event, or --bot-id with one of --failed-since and --everything-since";

function whatIsMeant(
  eventId: string | undefined,
  { botId, failedSince, everythingSince }: ReplayOptions,
): string | Range | undefined {
  const since = failedSince ?? everythingSince;
  if (eventId !== undefined) return botId === undefined && since === undefined ? eventId : undefined;
  if (botId === undefined || since === undefined || (failedSince && everythingSince)) return undefined;
  return { botId, scope: failedSince ? "failed" : "everything", since: since.toISOString() };
}

async function replayOne(context: CommandContext, eventId: string): Promise<void> {
  const replayed = await callRoute(context, "replayDelivery", { params: { eventId } });
  const soon =
    replayed.notBefore === null ? "It is sent now" : "Its endpoint is in backoff: it is sent after notBefore";
  context.print(replayed, () => `${recordOf(replayed)}\n\n${soon}; see: deliveries show ${eventId}`);
}

async function replayMany(context: CommandContext, range: Range, isMeant: boolean): Promise<void> {
  const { botId, scope, since } = range;
  const params = { botId };
  const counted = await callRoute(context, "countReplayable", { params, query: { scope, since } });
  const left = counted.keptSince === null ? "" : `; webhooks of events before ${counted.keptSince} are no longer kept`;
  const count = `${counted.isMore ? "more than " : ""}${counted.count}`;
  const unknown =
    counted.unknown === 0 ? "" : `; ${counted.unknown} that are unknown are left out: replay each by its id`;
  if (!isMeant && !context.isJson()) {
    throw new OperatorRefusal(409, "NOT_MEANT", `${count} would be sent again${unknown}${left}. Confirm with: --yes`);
  }
  let replayed = 0;
  let after: string | null | undefined;
  do {
    const body = { scope, since, until: counted.until, after };
    const batch = await callRoute(context, "replayDeliveries", { params, body });
    replayed += batch.replayed;
    after = batch.next;
    if (after !== null) process.stderr.write(`${replayed} of ${count} …\n`);
  } while (after !== null);
  const answer = { ...range, until: counted.until, replayed, unknown: counted.unknown };
  context.print(answer, () => `${replayed} are sent again${unknown}${left}.\nSee: deliveries list --bot-id ${botId}`);
}

type Attempt = WireAnswer<"showDelivery">["log"][number];

/** A delivery and its attempts: for each a line of numbers, and below it the answer. */
function textOfDelivery({ log, body, explanation, advice, ...facts }: WireAnswer<"showDelivery">): string {
  const [heads = "", ...lines] = tableOf(log, attemptColumns).split("\n");
  const withAnswers = lines.flatMap((line, index) => [line, ...answerLinesOf(log[index], log[index - 1])]);
  return `${recordOf({ ...facts, why: explanation, ...(advice !== undefined && { advice }), body })}\n\n${[heads, ...withAnswers].join("\n")}`;
}

const attemptColumns: Columns<Attempt> = {
  "#": "attempt",
  AT: "startedAt",
  RESULT: ({ status, errorClass }) => status ?? errorClass ?? "unknown",
  "DNS MS": "dnsMs",
  "TCP MS": "tcpMs",
  "TLS MS": "tlsMs",
  "1ST BYTE MS": "firstByteMs",
  "ALL MS": "totalMs",
  ADDRESS: "address",
  "NEXT AT": "nextAt",
};

function answerLinesOf(attempt: Attempt | undefined, earlier: Attempt | undefined): string[] {
  const words = [];
  if (attempt?.url !== earlier?.url) words.push(`    to: ${textOf(attempt?.url)}`);
  if (attempt?.isReplay) words.push("    sent again by a replay");
  if (attempt?.responseText) words.push(`    answer: ${textOf(attempt.responseText)}`);
  return words;
}
