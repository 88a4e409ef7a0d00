import { minutesFrom, timeFrom } from "@intermission/server/command-options";
import { type Row, tableOf, textOf } from "@intermission/server/command-tables";

/** A line of numbers for each endpoint, and below it its state in words. */
export function showEndpoints(endpoints: readonly Row[], asOf: Date): string {
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

const disabledBecause: Record<string, string> = {
  operator: "by an operator",
  gone: "for answering only 410 Gone",
  failing: "for accepting nothing for five days",
};

function wordsOf(endpoint: Row, asOf: Date): string[] {
  const { botId, url, state, breaker, restUntil, probeAt, lastFailureAt, warnedPercent } = endpoint;
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
    const because = disabledBecause[textOf(endpoint.disabledReason)] ?? "";
    words.push(`disabled ${because} ${timeFrom(asOf, endpoint.stateSince)}; undo it with: endpoints enable ${botId}`);
  }
  if (breaker === "open") words.push(`its breaker is open: the next delivery probes ${timeFrom(asOf, probeAt)}`);
  if (restUntil !== null) words.push(`it is in backoff: the next request is allowed ${timeFrom(asOf, restUntil)}`);
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
