import { type AdEvent, type VerifyOptions, verifyWebhook } from "./verify-webhook.ts";

/** Remembers which events were handled. */
export interface EventStore {
  /**
   * Runs `handle` unless the event was handled before, and remembers it when `handle` resolves. Copies that arrive while it
   * runs wait for it. An event whose `handle` rejected counts as not handled.
   */
  once(eventId: string, handle: () => Promise<void>): Promise<void>;
}

export interface WebhookOptions extends Pick<VerifyOptions, "toleranceSeconds" | "isTimestampOptional"> {
  /** The bot's API tokens: both of them while they rotate. */
  readonly tokens: string | readonly string[];
  /** `memoryStore()` by default, which forgets at a restart: use one that lasts where a reward must never be paid twice. */
  readonly store?: EventStore;
  /** Called for test events instead of the handler; without it they are answered and do nothing. */
  readonly onTest?: (event: AdEvent) => void | Promise<void>;
  /** Called when the handler rejects; the event is answered 500, and sent again. Logs by default. */
  readonly onError?: (error: unknown, event: AdEvent) => void;
  readonly now?: () => Date;
}

/** Larger than any webhook of the contract. */
const MOST_BYTES = 64 * 1024;

/**
 * A request handler for the webhooks of an ad service, as Hono, Next, Bun, Deno and Workers take it. `handle` runs once for
 * each event, or again where it rejected.
 *
 * Answers 200 when the event is handled, was handled before or is a test; 401 without a valid signature; 400, 405 and 413 for
 * what is no webhook; 500 when `handle` rejected.
 */
export function webhook(
  handle: (event: AdEvent) => void | Promise<void>,
  options: WebhookOptions,
): (request: Request) => Promise<Response> {
  const { tokens, store = memoryStore(), onTest, onError = logError, now = () => new Date(), ...verifying } = options;
  if ([tokens].flat().every((token) => token === "")) throw new Error("a webhook handler needs the bot's API token");
  return async (request) => {
    if (request.method !== "POST") return refusal(405, "METHOD_NOT_ALLOWED", "a webhook is a POST", { allow: "POST" });
    const body = await readBytes(request);
    if (body === undefined) return refusal(413, "TOO_LARGE", `a webhook has at most ${MOST_BYTES} bytes`);
    const verified = await verifyWebhook(body, request.headers, tokens, { ...verifying, now: now() });
    if (verified.outcome === "not-signed")
      return refusal(401, "BAD_SIGNATURE", "the signature does not match the body");
    if (verified.outcome === "malformed")
      return refusal(400, "BAD_REQUEST", "the body is not a webhook of the contract");
    const { event } = verified;
    try {
      if (event.isTest) await onTest?.(event);
      else await handleOnce(store, event, handle);
    } catch (error) {
      onError(error, event);
      return refusal(500, "NOT_HANDLED", "the event could not be handled; send it again");
    }
    return Response.json({ status: "ok" });
  };
}

/** A code earns each kind of event once, so both together identify an event of a service that sends no ids. */
function handleOnce(
  store: EventStore,
  event: AdEvent,
  handle: (event: AdEvent) => void | Promise<void>,
): Promise<void> {
  const { eventId = event.code && `${event.code}:${event.event}` } = event;
  const run = async () => handle(event);
  return eventId === undefined ? run() : store.once(eventId, run);
}

async function readBytes(request: Request): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  const body = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}

function refusal(status: number, code: string, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ error: { code, message } }, { status, headers });
}

function logError(error: unknown, { eventId, event }: AdEvent): void {
  console.error(`the handler of ${event} ${eventId ?? "without an id"} failed:`, error);
}

/** Keeps the last `most` event ids in this process: enough for tests, and where a second payment after a restart does no harm. */
export function memoryStore({ most = 100_000 }: { readonly most?: number } = {}): EventStore {
  const handled = new Map<string, Promise<void>>();
  return {
    once(eventId, handle) {
      const known = handled.get(eventId);
      if (known !== undefined) return known;
      const handling = handle();
      handled.set(eventId, handling);
      handling.catch(() => handled.delete(eventId));
      for (const oldest of handled.keys()) {
        if (handled.size <= most) break;
        handled.delete(oldest);
      }
      return handling;
    },
  };
}
