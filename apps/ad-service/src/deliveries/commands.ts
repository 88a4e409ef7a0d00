import { operatorRequest } from "@intermission/operator-api/operator-request";
import { OperatorRefusal, withExamples } from "@intermission/server/command-line";
import { pastMomentOption, telegramIdOption, wholeNumber } from "@intermission/server/command-options";
import { type Row, recordOf, rowsOf, tableOf, textOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import { type Command, Option } from "commander";

const states = ["waiting", "sending", "delivered", "failed", "held", "unknown"];

export function deliveryCommands(program: Command, context: CommandContext): void {
  const deliveries = program.command("deliveries").description("webhooks: what was sent, and what was answered");

  withExamples(deliveries.command("list").description("deliveries, newest first"), [
    "deliveries list --bot-id 7000000001 --state failed",
    "deliveries list --limit 10 --json",
  ])
    .option("--bot-id <id>", "of one bot only", telegramIdOption)
    .addOption(new Option("--state <state>", "in one state only").choices(states))
    .option("--before <event-id>", "continue where an earlier list ended")
    .option("--limit <number>", "at most this many, up to 1000", wholeNumber, 50)
    .action(async ({ botId, state, before, limit }: ListOptions) => {
      const query = { botId, state, before, limit: String(limit) };
      const rows = rowsOf(await context.call(operatorRequest("listDeliveries", { query })), "deliveries");
      const more = rows.length === limit ? `\n\nThere may be more: --before ${rows.at(-1)?.eventId}` : "";
      context.print(rows, () => `${tableOf(rows, columns)}${more}`);
    });

  withExamples(
    deliveries.command("show").description("show a delivery, its body, each attempt, and the reason for its state"),
    ["deliveries show evt_01932f6e-7b1c-7f2a-9c3d-5e6f708192a3"],
  )
    .argument("<event-id>", "as shown by deliveries list")
    .action(async (eventId: string) => {
      const delivery = await callForRow(context, operatorRequest("showDelivery", { params: { eventId } }));
      context.print(delivery, () => textOfDelivery(delivery));
    });

  replayDeliveriesCommand(deliveries, context);
}

interface ListOptions {
  botId?: string;
  state?: string;
  before?: string;
  limit: number;
}

const columns = {
  EVENT: (delivery: Row) => delivery.eventId,
  BOT: (delivery: Row) => delivery.botId,
  KIND: (delivery: Row) => (delivery.isTest ? "test" : delivery.event),
  USER: (delivery: Row) => delivery.userId,
  STATE: (delivery: Row) => delivery.state,
  ATTEMPTS: (delivery: Row) => delivery.attempts,
  "NEXT AT": (delivery: Row) => delivery.dueAt,
};

interface ReplayOptions {
  botId?: string;
  failedSince?: Date;
  everythingSince?: Date;
  yes?: boolean;
}

interface Range {
  botId: string;
  scope: "failed" | "everything";
  since: string;
}

function replayDeliveriesCommand(deliveries: Command, context: CommandContext): void {
  const command = deliveries.command("replay").description("send webhooks again: the same event_id, the same bytes");
  withExamples(command, [
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
  const replayed = await callForRow(context, operatorRequest("replayDelivery", { params: { eventId } }));
  const soon =
    replayed.notBefore === null ? "It is sent now" : "Its endpoint is in backoff: it is sent after notBefore";
  context.print(replayed, () => `${recordOf(replayed)}\n\n${soon}; see: deliveries show ${eventId}`);
}

async function replayMany(context: CommandContext, range: Range, isMeant: boolean): Promise<void> {
  const { botId, scope, since } = range;
  const params = { botId };
  const counted = await callForRow(context, operatorRequest("countReplayable", { params, query: { scope, since } }));
  const left = counted.keptSince === null ? "" : `; webhooks of events before ${counted.keptSince} are no longer kept`;
  const count = `${counted.isMore ? "more than " : ""}${counted.count}`;
  const unknown =
    counted.unknown === 0 ? "" : `; ${counted.unknown} that are unknown are left out: replay each by its id`;
  if (!isMeant && !context.isJson()) {
    throw new OperatorRefusal(409, "NOT_MEANT", `${count} would be sent again${unknown}${left}. Confirm with: --yes`);
  }
  let replayed = 0;
  let after: unknown;
  do {
    const body = { scope, since, until: counted.until, after };
    const batch = await callForRow(context, operatorRequest("replayDeliveries", { params, body }));
    replayed += Number(batch.replayed);
    after = batch.next;
    if (after !== null) process.stderr.write(`${replayed} of ${count} …\n`);
  } while (after !== null);
  const answer = { ...range, until: counted.until, replayed, unknown: counted.unknown };
  context.print(answer, () => `${replayed} are sent again${unknown}${left}.\nSee: deliveries list --bot-id ${botId}`);
}

/** A delivery and its attempts: for each a line of numbers, and below it the answer. */
function textOfDelivery(delivery: Row): string {
  const { log: _, body, explanation, advice, ...facts } = delivery;
  const attempts = rowsOf(delivery, "log");
  const [heads = "", ...lines] = tableOf(attempts, attemptColumns).split("\n");
  const withAnswers = lines.flatMap((line, index) => [
    line,
    ...answerLinesOf(attempts[index] ?? {}, attempts[index - 1]),
  ]);
  return `${recordOf({ ...facts, why: explanation, ...(advice !== undefined && { advice }), body })}\n\n${[heads, ...withAnswers].join("\n")}`;
}

const attemptColumns = {
  "#": (attempt: Row) => attempt.attempt,
  AT: (attempt: Row) => attempt.startedAt,
  RESULT: (attempt: Row) => attempt.status ?? attempt.errorClass ?? "unknown",
  "DNS MS": (attempt: Row) => attempt.dnsMs,
  "TCP MS": (attempt: Row) => attempt.tcpMs,
  "TLS MS": (attempt: Row) => attempt.tlsMs,
  "1ST BYTE MS": (attempt: Row) => attempt.firstByteMs,
  "ALL MS": (attempt: Row) => attempt.totalMs,
  ADDRESS: (attempt: Row) => attempt.address,
  "NEXT AT": (attempt: Row) => attempt.nextAt,
};

function answerLinesOf(attempt: Row, earlier: Row | undefined): string[] {
  const words = [];
  if (attempt.url !== earlier?.url) words.push(`    to: ${textOf(attempt.url)}`);
  if (attempt.isReplay) words.push("    sent again by a replay");
  if (attempt.responseText) words.push(`    answer: ${textOf(attempt.responseText)}`);
  return words;
}
