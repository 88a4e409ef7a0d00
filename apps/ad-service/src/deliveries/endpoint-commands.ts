import { operatorRequest } from "@intermission/operator-api/operator-request";
import { OperatorRefusal, withExamples } from "@intermission/server/command-line";
import { minutesFrom, telegramIdOption, timeFrom, wholeNumber } from "@intermission/server/command-options";
import { type Row, recordOf, tableOf, textOf } from "@intermission/server/command-tables";
import { type CommandContext, callForAllRows, callForRow } from "@intermission/server/operator-client";
import { type Command, Option } from "commander";
import { disabledBecause } from "./explain-delivery.ts";

export function endpointCommands(program: Command, context: CommandContext): void {
  const endpoints = program
    .command("endpoints")
    .description(
      "where bots' webhooks are sent: health and queues. An endpoint must answer a signed test with 2xx to become active",
    );
  const print = (endpoint: Row) => context.print(endpoint, () => recordOf(endpoint));

  withExamples(endpoints.command("list").description("all bots with their endpoints, and what is wrong with them"), [
    "endpoints list",
    "endpoints list --json",
  ]).action(async () => {
    const { rows, answer } = await callForAllRows(context, "endpoints", (after) =>
      operatorRequest("listEndpoints", { query: { after } }),
    );
    context.print({ ...answer, endpoints: rows }, () => showEndpoints(rows, new Date(String(answer.asOf))));
  });

  ofBot(endpoints.command("show").description("show everything about one endpoint"), [
    "endpoints show 7000000001",
  ]).action(async (botId: string) =>
    print(await callForRow(context, operatorRequest("showEndpoint", { params: { botId } }))),
  );

  ofBot(
    endpoints
      .command("enable")
      .description("begin anew: a test is sent, and once that is answered 2xx what was held goes out"),
    ["endpoints enable 7000000001", "endpoints enable 7000000001 --skip-test"],
  )
    .option("--skip-test", "active immediately: held events are sent without waiting for a test")
    .action(async (botId: string, body: { skipTest?: boolean }) => {
      const enabled = await callForRow(context, operatorRequest("enableEndpoint", { params: { botId }, body }));
      const next = `

Its test is due now; see its answer with: endpoints test ${botId}`;
      context.print(enabled, () => `${recordOf(enabled)}${enabled.state === "pending" ? next : ""}`);
    });

  ofBot(endpoints.command("disable").description("stop sending to it; its events are held for 30 days"), [
    "endpoints disable 7000000001",
  ]).action(async (botId: string) =>
    print(await callForRow(context, operatorRequest("disableEndpoint", { params: { botId } }))),
  );

  ofBot(endpoints.command("set").description("change settings of an endpoint"), [
    "endpoints set 7000000001 --max-in-flight 8",
  ])
    .requiredOption("--max-in-flight <number>", "webhooks in flight at the same time, 1 to 40", wholeNumber)
    .action(async (botId: string, body: { maxInFlight: number }) =>
      print(await callForRow(context, operatorRequest("limitEndpoint", { params: { botId }, body }))),
    );

  ofBot(endpoints.command("test").description("send one test event now, and show what was answered"), [
    "endpoints test 7000000001",
    "endpoints test 7000000001 --event direct_link --user-id 123456789",
  ])
    .addOption(
      new Option("--event <event>", "kind of event to test (default: rewarded)").choices(["rewarded", "direct_link"]),
    )
    .option(
      "--user-id <id>",
      "a listed tester of the bot, who may be rewarded; without it, no user is",
      telegramIdOption,
    )
    .action(async (botId: string, body: { event?: string; userId?: string }) => {
      const tested = await callForRow(context, operatorRequest("testEndpoint", { params: { botId }, body }));
      const { advice, ...result } = tested;
      context.print(tested, () => recordOf(result));
      if (tested.isDelivered !== true) {
        throw new OperatorRefusal(200, "TEST_FAILED", `the test was not answered 2xx: ${advice}`);
      }
    });
}

function ofBot(command: Command, examples: readonly string[]): Command {
  return withExamples(command, examples).argument("<bot-id>", "Telegram id of the bot", telegramIdOption);
}

/** A line of numbers for each endpoint, and below it its state in words. */
function showEndpoints(endpoints: readonly Row[], asOf: Date): string {
  const [heads = "", ...lines] = tableOf(endpoints, columnsAt(asOf)).split("\n");
  return [heads, ...lines.flatMap((line, index) => [line, ...wordsOf(endpoints[index] ?? {}, asOf)])].join("\n");
}

const columnsAt = (asOf: Date) => ({
  "BOT ID": (endpoint: Row) => endpoint.botId,
  NAME: (endpoint: Row) => shortened(textOf(endpoint.name), 20),
  STATE: (endpoint: Row) => endpoint.state ?? "none",
  BREAKER: (endpoint: Row) => endpoint.breaker,
  "IN FLIGHT": (endpoint: Row) => endpoint.state && `${endpoint.inFlight} of ${endpoint.maxInFlight}`,
  WAITING: (endpoint: Row) => counted(endpoint.waiting),
  HELD: (endpoint: Row) => counted(endpoint.held),
  // Negative if the oldest is overdue.
  "DUE IN MIN": (endpoint: Row) => minutesFrom(asOf, endpoint.oldestDueAt),
  "2XX MIN AGO": (endpoint: Row) => minutesFrom(new Date(String(endpoint.lastSuccessAt)), asOf.toISOString()),
  "TO DISABLED": (endpoint: Row) => endpoint.state && `${endpoint.disablePercent} %`,
});

function wordsOf(endpoint: Row, asOf: Date): string[] {
  const { botId, url, state, breaker, backoffUntil, probeAt, lastFailureAt, warnedPercent } = endpoint;
  if (state === null) return indented([`no address: its events are held; see: bots update ${botId} --webhook-url`]);
  const answered = textOf(endpoint.lastStatus ?? endpoint.lastErrorClass);
  const answer = endpoint.lastAnswer ? `: ${textOf(endpoint.lastAnswer)}` : "";
  const words = [textOf(url)];
  if (state === "pending") {
    words.push(
      `pending: tested ${endpoint.tests === 1 ? "once" : `${endpoint.tests} times`} so far, the next test ${timeFrom(asOf, endpoint.testDueAt)}; see: endpoints test ${botId}`,
    );
  }
  if (state === "disabled") {
    const because = Object.entries(disabledBecause).find(([reason]) => reason === endpoint.disabledReason)?.[1] ?? "";
    words.push(`disabled ${because} ${timeFrom(asOf, endpoint.stateSince)}; undo it with: endpoints enable ${botId}`);
  }
  if (breaker === "open") words.push(`its breaker is open: the next delivery probes ${timeFrom(asOf, probeAt)}`);
  if (backoffUntil !== null)
    words.push(`it is in backoff: the next request is allowed ${timeFrom(asOf, backoffUntil)}`);
  if (typeof warnedPercent === "number" && warnedPercent > 0 && state === "active") {
    words.push(`past ${warnedPercent} % of the way to being disabled; the marks are 50, 70, 90 and 100`);
  }
  if (lastFailureAt !== null) words.push(`last failure ${timeFrom(asOf, lastFailureAt)}: ${answered}${answer}`);
  return indented(words);
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${shortened(line, 116)}`);
}

function counted(value: unknown): unknown {
  return typeof value === "number" && value > 10_000 ? ">10000" : value;
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
