import { callHandler } from "./call-handler.ts";
import { apiTokens, requireMilliseconds, requireOptions, wholeNumberOf } from "./client-settings.ts";
import { type EventStore, eventKey, memoryStore } from "./memory-store.ts";
import { inTime } from "./pause.ts";
import { readBody } from "./read-body.ts";
import {
  type AdEvent,
  isByBot,
  namedBot,
  type TokensByBot,
  type VerifyOptions,
  verifyWebhook,
  type WebhookRefusal,
} from "./verify-webhook.ts";

type Tokens = string | readonly string[] | TokensByBot | undefined;

export interface WebhookOptions extends Pick<VerifyOptions, "toleranceSeconds" | "isTimestampOptional"> {
  /**
   * The bot's API tokens: both of them while they rotate. For several bots, a record by bot id: only a bot's own tokens verify
   * its events, whereas each token of an array verifies events of every bot. A function is called for each request, with the
   * bot id that the event names and nothing has verified yet, for secrets that are not known while a module loads. Tokens that
   * cannot be right are logged and answered 500: the service sends again.
   */
  readonly tokens: Tokens | ((botId: string | undefined) => Tokens | Promise<Tokens>);
  /** `memoryStore()` by default, which loses its events at a restart, and warns of it. */
  readonly store?: EventStore | undefined;
  /** Called for test events instead of the handler. By default test events are answered 200 and ignored. */
  readonly onTest?: ((event: AdEvent) => void | Promise<void>) | undefined;
  /**
   * Calls the handler, not `onTest`, for test events that name one of the bot's listed testers, so that a test pays as an
   * earned event does. Test events of user "0" still pay nobody.
   */
  readonly paysTesters?: boolean | undefined;
  /**
   * The longest that a request waits for its handler; 14 s by default, since the ad service waits for 15 s. Then it is
   * answered 500; the handler runs on, and a repeat of the event waits for it instead of calling it a second time, until the
   * lease of its store is over.
   */
  readonly handlerTimeoutMs?: number | undefined;
  /**
   * Called for each webhook that is answered 401, or 400 (without `refusal`: it is signed, but is not an event). By default
   * the message is logged as a warning, at most once a minute for each kind. Anyone can cause it.
   */
  readonly onRefused?: ((message: string, refusal: WebhookRefusal | undefined) => void) | undefined;
  /** Called when the handler rejects or is late. The event is answered 500, and the service sends it again. Logs by default. */
  readonly onError?: ((error: unknown, event: AdEvent) => void) | undefined;
  readonly now?: (() => Date) | undefined;
}

/** Several times the largest webhook of the contract. */
const MAX_BYTES = 64 * 1024;

/**
 * Makes a request handler for the webhooks of an ad service, for Hono, Next, Bun, Deno and Workers; `toNodeHandler` adapts it
 * to node:http, Express and Fastify. `handle` runs once for each event, and again only if it rejected: return or await every
 * promise in it, since nothing waits for others.
 *
 * Answers 200 if the event is handled, was handled before or is a test; 401 without a valid signature; 400, 405 or 413 if the
 * request is not a webhook; 500 if `handle` rejected, or if the receiver is set up wrongly, which is logged. Tokens are not
 * checked before the first request.
 */
export function webhook(
  handle: (event: AdEvent) => void | Promise<void>,
  options: WebhookOptions,
): (request: Request) => Promise<Response> {
  if (typeof handle !== "function") throw new TypeError("webhook() needs a handler: webhook(handle, { tokens })");
  requireOptions(options, "webhook(handle, { tokens })");
  const { tokens, store = memoryStore(), onTest, onError = logError, handlerTimeoutMs = 14_000, ...more } = options;
  const { onRefused, paysTesters = false, ...rest } = more;
  const { now = () => new Date(), ...verifying } = rest;
  requireMilliseconds({ handlerTimeoutMs });
  wholeNumberOf(options.toleranceSeconds, { option: "toleranceSeconds", min: 1, unit: " of seconds" });
  const logged = new Map();
  return async (request) => {
    if (typeof request.headers?.get !== "function") throw (await faults()).requestFault("of-node");
    if (request.method !== "POST") return refusal(405, "METHOD_NOT_ALLOWED", "a webhook is a POST", { allow: "POST" });
    if (request.bodyUsed) {
      const { notConfigured, requestFault } = await faults();
      return notConfigured(requestFault("read-before"));
    }
    const body = await readBody(request.body, MAX_BYTES);
    if (body === undefined) return refusal(413, "TOO_LARGE", `a webhook has at most ${MAX_BYTES} bytes`);
    const configured = await readTokens(tokens, namedBot(body)).catch(async (error: unknown) =>
      (await faults()).notConfigured(error),
    );
    if (configured instanceof Response) return configured;
    const verified = await verifyWebhook(body, request.headers, configured, { ...verifying, now: now() });
    if (verified.outcome !== "verified") {
      const { answerRefusal } = await faults();
      return answerRefusal(verified, { onRefused, logged, userAgent: request.headers.get("user-agent") });
    }
    const { event } = verified;
    const isTest = event.isTest && !(paysTesters && event.userId !== "0");
    try {
      await inTime(
        isTest ? onTest && callHandler(onTest, event) : handleOnce(store, event, handle),
        handlerTimeoutMs,
        "the handler",
      );
    } catch (error) {
      // Also an asynchronous one: an uncaught error would end the process.
      (async () => onError(error, event))().catch((fault) => console.error(fault));
      return refusal(500, "NOT_HANDLED", "not handled; send it again");
    }
    return Response.json({ status: "ok" });
  };
}

const faults = () => import("./refused-webhook.ts");

/** Leaves the tokens as they are: a blank behind one has its own explanation, when a signature does not match. */
async function readTokens(tokens: WebhookOptions["tokens"], botId: string | undefined): Promise<NonNullable<Tokens>> {
  const read = typeof tokens === "function" ? await tokens(botId) : tokens;
  const variable = "AD_API_TOKEN";
  if (isByBot(read)) {
    // A mistake in one bot's tokens must not stop the events of the others.
    const bots = Object.entries(read);
    if (bots.length === 0) apiTokens(undefined, { option: "tokens", variable });
    for (const [id, own] of bots)
      if (botId === undefined || botId === id) apiTokens(own, { option: `tokens of bot ${id}`, variable });
  } else apiTokens(read, { option: "tokens", variable });
  return read ?? [];
}

/** Without an id and a code, `handle` runs for each copy. */
export function handleOnce(
  store: EventStore,
  event: AdEvent,
  handle: (event: AdEvent) => void | Promise<void>,
): Promise<void> {
  const key = eventKey(event);
  const run = () => callHandler(handle, event);
  return key === undefined ? run() : store.once(key, run);
}

function refusal(status: number, code: string, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error: { code, message } }, { status, headers });
}

function logError(error: unknown, { eventId, event }: AdEvent): void {
  console.error(`the handler of ${event} ${eventId ?? "without an id"} failed:`, error);
}
