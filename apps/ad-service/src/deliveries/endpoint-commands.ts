import { adviseOnWarning } from "@intermission/ad-core/delivery-advice";
import { OperatorRefusal } from "@intermission/server/command-line";
import { minutesFrom, timeFrom } from "@intermission/server/command-options";
import { type Columns, textOf } from "@intermission/server/command-tables";
import { list, subject, verb, type WireAnswer } from "@intermission/server/route-commands";
import { disabledBecause } from "./explain-delivery.ts";

type Endpoint = WireAnswer<"listEndpoints">["endpoints"][number];

export const endpointCommands = subject(
  "endpoints",
  "where bots' webhooks are sent: health and queues. An endpoint must answer a signed test with 2xx to become active",
  {
    list: list("listEndpoints", "endpoints", {
      description: "all bots with their endpoints, and what is wrong with them",
      options: { state: "in one state only" },
      columns: ({ asOf }) => columnsAt(new Date(asOf)),
      isPageInJson: true,
      text: (endpoints, { asOf }, table) => withWords(endpoints, new Date(asOf), table),
    }),
    show: verb("showEndpoint", { description: "show everything about one endpoint" }),
    enable: verb("enableEndpoint", {
      description: "begin anew: a test is sent, and once that is answered 2xx what was held goes out",
      examples: ["7000000001", "7000000001 --skip-test"],
      options: {
        skipTest: { isFlag: true, text: "active immediately: held events are sent without waiting for a test" },
      },
      note: ({ state, botId }) =>
        state === "pending" ? `Its test is due now; see its answer with: endpoints test ${botId}` : undefined,
    }),
    disable: verb("disableEndpoint", { description: "stop sending to it; its events are held for 30 days" }),
    set: verb("limitEndpoint", {
      description: "change settings of an endpoint",
      examples: ["7000000001 --max-in-flight 8"],
      options: { maxInFlight: { text: "webhooks in flight at the same time", value: "number" } },
    }),
    test: verb("testEndpoint", {
      description: "send one test event now, and show what was answered",
      examples: ["7000000001", "7000000001 --event direct_link --user-id 123456789"],
      options: {
        event: "kind of event to test (default: rewarded)",
        userId: "a listed tester of the bot, who may be rewarded; without it, no user is",
      },
      shown: ({ advice: _, ...result }) => result,
      note: ({ isDelivered, advice }) => (isDelivered && advice !== undefined ? `warning: ${advice}` : undefined),
      finish: ({ isDelivered, advice }) => {
        if (!isDelivered) {
          throw new OperatorRefusal(200, "TEST_FAILED", `the test was not answered 2xx: ${advice}`);
        }
      },
    }),
  },
);

/** A line of numbers for each endpoint, and below it its state in words. */
function withWords(endpoints: readonly Endpoint[], asOf: Date, table: string): string {
  const [heads = "", ...lines] = table.split("\n");
  return [heads, ...endpoints.flatMap((endpoint, index) => [lines[index] ?? "", ...wordsOf(endpoint, asOf)])].join(
    "\n",
  );
}

const columnsAt = (asOf: Date): Columns<Endpoint> => ({
  "BOT ID": "botId",
  NAME: ({ name }) => shortened(textOf(name), 20),
  STATE: ({ state }) => state ?? "none",
  BREAKER: "breaker",
  "IN FLIGHT": ({ state, inFlight, maxInFlight }) => state && `${inFlight} of ${maxInFlight}`,
  WAITING: ({ waiting }) => counted(waiting),
  HELD: ({ held }) => counted(held),
  // Negative if the oldest is overdue.
  "DUE IN MIN": ({ oldestDueAt }) => minutesFrom(asOf, oldestDueAt),
  "2XX MIN AGO": ({ lastSuccessAt }) => minutesFrom(new Date(String(lastSuccessAt)), asOf.toISOString()),
  "TO DISABLED": ({ state, disablePercent }) => state && `${disablePercent} %`,
});

function wordsOf(endpoint: Endpoint, asOf: Date): string[] {
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
  if (warnedPercent > 0 && state === "active") {
    words.push(`past ${warnedPercent} % of the way to being disabled; the marks are 50, 70, 90 and 100`);
  }
  for (const warning of endpoint.warnings) words.push(`warning: ${adviseOnWarning(warning, "operator")}`);
  if (lastFailureAt !== null) words.push(`last failure ${timeFrom(asOf, lastFailureAt)}: ${answered}${answer}`);
  return indented(words);
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${shortened(line, 116)}`);
}

function counted(value: number): number | string {
  return value > 10_000 ? ">10000" : value;
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
