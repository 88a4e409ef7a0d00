import { AdsError } from "../ads-error.ts";
import type { EventAttempts } from "../client-answers.ts";
import type { Ads } from "../create-ads.ts";

interface Host {
  write(line: string): void;
  writeError(line: string): void;
  readonly signal: AbortSignal;
}

/** As many events as fit on a screen with their attempts. */
const MAX_SHOWN_EVENTS = 10;

/** Shows one event's attempts, or those of the bot's latest events: what was answered, and what to check. */
export async function showDeliveries(
  ads: Pick<Ads, "events" | "attempts">,
  eventId: string | undefined,
  host: Host,
): Promise<number> {
  const { signal } = host;
  try {
    if (eventId !== undefined) {
      for (const line of linesOf(await ads.attempts(eventId, { signal }))) host.write(line);
      return 0;
    }
    const { events } = await ads.events({ latest: MAX_SHOWN_EVENTS }, { signal });
    if (events.length === 0) host.write("The bot has no events yet. trigger sends a test event.");
    for (const { eventId: id, event, delivery } of events) {
      if (id === undefined) continue;
      if (delivery === "not-kept") host.write(`${id}  ${event}  its webhook is no longer kept`);
      else for (const line of linesOf(await ads.attempts(id, { signal }))) host.write(line);
    }
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    if (!(error instanceof AdsError)) throw error;
    const hint =
      error.status === 404 && eventId !== undefined ? "deliveries without an id lists the latest events" : "";
    host.writeError(
      `${error.message} (${error.code}). ${hint || "intermission-publisher doctor checks what is wrong"}.`,
    );
    return 1;
  }
}

function linesOf({ event_id, event, test, delivery, explanation, attempts }: EventAttempts): string[] {
  const made = attempts.flatMap(({ attempt, started_at, url, status, error_class, answer, advice, total_ms }) => {
    const result = status ?? error_class ?? "no answer";
    const text = answer?.trim().split(/\r?\n/, 1)[0]?.slice(0, MAX_ANSWER_CHARACTERS) ?? "";
    const duration = total_ms === undefined ? "" : ` in ${total_ms} ms`;
    const line = `  ${attempt}. ${started_at}  ${url} → ${result}${duration}${text === "" ? "" : `: ${text}`}`;
    return advice === undefined ? [line] : [line, `     ${advice}`];
  });
  return [`${event_id}  ${event}${test ? "  test" : ""}  ${delivery}: ${explanation}`, ...made];
}

const MAX_ANSWER_CHARACTERS = 200;
