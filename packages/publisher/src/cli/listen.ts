import { describeRefusal, refusalOfAnswer } from "@intermission/ad-core/webhook-refusal";
import { AdsError, unexpectedAnswer } from "../ads-error.ts";
import type { Ads, EventsPage } from "../create-ads.ts";
import { readBody } from "../read-body.ts";
import { signWebhook } from "../testing/sign-webhook.ts";
import type { AdEvent } from "../verify-webhook.ts";

interface Bot {
  readonly url: string;
  readonly token: string;
  readonly botId: string;
  readonly ads: Ads;
}

interface Host {
  write(line: string): void;
  writeError(line: string): void;
  readonly signal: AbortSignal;
  readonly pollMs?: number;
}

/**
 * Shows each new event until the signal. Test events are sent to `forward`, signed with the bot's token: the bytes are those
 * of the ad service's webhook. Events that users earned are forwarded only with `isAll`, since a handler pays them.
 */
export async function listen(
  bot: Bot,
  { forward, isAll, isTestSent }: { forward: string | undefined; isAll: boolean; isTestSent: boolean },
  host: Host,
): Promise<number> {
  const { ads } = bot;
  const { signal, pollMs = 1000 } = host;
  const which = isAll ? "all events" : "test events";
  try {
    let after: string | undefined = await endOfEvents(ads, signal);
    host.write(
      `Showing new events of bot ${bot.botId}${forward === undefined ? "" : `, forwarding ${which} to ${forward}`}.`,
    );
    if (isTestSent && forward !== undefined) {
      const test = { event: "rewarded" as const, userId: "0", botId: bot.botId, isTest: true };
      host.write(`a test event made here → ${await send(forward, signWebhook(test, bot.token))}`);
    }
    let hasFailed = false;
    while (!signal.aborted) {
      try {
        after ??= await endOfEvents(ads, signal);
        const page = await ads.events({ after, limit: 100 }, { signal });
        for (const event of page.events) await show(event);
        requireProgress(page, after);
        after = page.next;
        if (hasFailed) host.write("The ad service answers again.");
        hasFailed = false;
        if (page.hasMore) continue;
      } catch (error) {
        if (!(error instanceof AdsError) || error.status === 401 || error.status === 403) throw error;
        if (error.code === "CURSOR_LOST") after = undefined;
        if (!hasFailed) host.writeError(`${error.message} (${error.code}); trying again`);
        hasFailed = true;
      }
      await wait(pollMs, signal);
    }
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    if (!(error instanceof AdsError)) throw error;
    host.writeError(`${error.message} (${error.code}). intermission-publisher doctor checks what is wrong.`);
    return 1;
  }

  async function show(event: AdEvent): Promise<void> {
    const { code, reference, startParam, clientNote, occurredAt, revenueMicros, currency } = event;
    const facts = [
      occurredAt?.slice(11, 19),
      event.event,
      event.isTest ? "test" : "earned",
      `user ${event.userId}`,
      code && `code ${code}`,
      reference && `reference ${JSON.stringify(reference)}`,
      startParam && `startapp ${startParam}`,
      clientNote && `note ${JSON.stringify(clientNote)}`,
      revenueMicros !== undefined && `worth ${revenueMicros / 1_000_000} ${currency}`,
      event.eventId,
    ];
    const line = facts.filter((fact) => fact !== undefined && fact !== "" && fact !== false).join("  ");
    if (forward === undefined) return host.write(line);
    if (!event.isTest && !isAll) return host.write(`${line}  not forwarded (--all forwards it)`);
    const webhook = { ...event, occurredAt: occurredAt === undefined ? undefined : new Date(occurredAt) };
    host.write(`${line}  → ${await send(forward, signWebhook(webhook, bot.token))}`);
  }
}

/** The cursor behind the events that exist. */
async function endOfEvents(ads: Ads, signal: AbortSignal): Promise<string> {
  return (await ads.events({ latest: 1 }, { signal })).next;
}

/** The next page would be this one again, and the one after it. */
function requireProgress({ hasMore, next }: EventsPage, after: string | undefined): void {
  if (hasMore && next === after) throw unexpectedAnswer();
}

const MAX_ANSWER_CHARACTERS = 200;
const MAX_ANSWER_BYTES = 64 * 1024;

async function send(forward: string, webhook: RequestInit): Promise<string> {
  try {
    const response = await fetch(forward, { ...webhook, redirect: "manual", signal: AbortSignal.timeout(10_000) });
    const text = new TextDecoder().decode(await readBody(response.body, MAX_ANSWER_BYTES));
    if (response.ok) return String(response.status);
    const refusal = response.status === 401 ? refusalOfAnswer(text) : undefined;
    const answer = refusal ? describeRefusal(refusal, "the receiver") : text.trim().slice(0, MAX_ANSWER_CHARACTERS);
    return `${response.status} ${answer}`;
  } catch (error) {
    const { message, cause } = error as Error;
    return `no answer: ${cause instanceof Error && cause.message !== "" ? cause.message : message}`;
  }
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
