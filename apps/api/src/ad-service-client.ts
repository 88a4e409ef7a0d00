import { setTimeout } from "node:timers/promises";
import { type CreateCodeRequest, type CreateCodeResponse, createCodeResponse } from "@intermission/ad-core/client-api";
import { listedDelivery } from "@intermission/ad-core/listed-event";
import { pauseBeforeRetry } from "@intermission/ad-core/retry";
import { retryAfterSeconds } from "@intermission/ad-core/retry-after-seconds";
import { webhookEvent } from "@intermission/ad-core/webhook-event";
import type { CreateCodeOutcome } from "@intermission/publisher/companion";
import { type CallOutcome, traceCall } from "@intermission/server/trace-context";
import { type Dispatcher, Pool } from "undici";
import { z } from "zod";

type RequestedCode =
  | { outcome: "issued"; code: CreateCodeResponse }
  | (Extract<CreateCodeOutcome, { outcome: "unavailable" }> & { detail: string });

// Less strict than the contract, so that one event of a newer kind does not block the others.
const listedEvent = webhookEvent
  .required({ event_id: true, bot_id: true, occurred_at: true })
  .extend({ delivery: listedDelivery.optional().catch(undefined) });
const eventsPage = z.object({ events: z.array(z.unknown()), next: z.string().max(1000), has_more: z.boolean() });

const errorEnvelope = z.object({ error: z.object({ code: z.string() }) });

export type ListedEvent = z.infer<typeof listedEvent>;

export type ListedEvents =
  /** `unreadable` counts the page's entries that are not known events. */
  | { outcome: "listed"; events: ListedEvent[]; unreadable: number; next: string; hasMore: boolean }
  /** The service does not have this endpoint. */
  | { outcome: "not-offered" }
  /** The service does not know the cursor, or no longer knows it. */
  | { outcome: "bad-cursor" }
  | { outcome: "unavailable"; detail: string };

export interface AdServiceClient {
  createCode(request: CreateCodeRequest): Promise<RequestedCode>;
  listEvents(after: string | null, limit: number): Promise<ListedEvents>;
  close(): Promise<void>;
}

interface Answer {
  status: number;
  retryAfterSeconds: number | undefined;
  json: unknown;
  /** Of the ad service, or of the proxy in front of it. */
  host: string;
}

type Exchange = { outcome: "answered"; answer: Answer } | { outcome: "timeout" | "unreachable"; detail: string };

const MAX_RETRIES = 2;
/** A caller that waits for a code learns a longer wait instead. */
const MAX_PAUSE_SECONDS = 1;

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Connections to the ad service, which all bots share. */
export function adServiceConnections(url: string): Pool {
  return new Pool(new URL(url).origin, { connections: 64, pipelining: 1, connect: { timeout: 5000 } });
}

/**
 * The only client of the ad service. It acts as the bot of its token. Every call is repeatable, and is limited in size,
 * attempts and time, which is that of all its attempts; the service's faults are outcomes, not exceptions.
 */
export function adServiceClient(options: {
  url: string;
  token: string;
  timeoutMilliseconds?: number;
  /** By default one of its own. */
  connections?: Pool;
}): AdServiceClient {
  const { pathname, host } = new URL(options.url);
  const pool = options.connections ?? adServiceConnections(options.url);
  const timeout = options.timeoutMilliseconds ?? 10_000;
  const prefix = pathname.replace(/\/+$/, "");
  const headers = { authorization: `Bearer ${options.token}`, "accept-encoding": "identity" };

  const call = (request: { method: "GET" | "POST"; path: string; body?: string }) =>
    traceCall(
      { method: request.method, url: options.url, isPropagated: true },
      (traceHeaders) =>
        exchange(pool, host, timeout, {
          method: request.method,
          path: `${prefix}/client/v1${request.path}`,
          headers: { ...headers, ...(request.body !== undefined && jsonBody), ...traceHeaders },
          body: request.body ?? null,
        }),
      outcomeOf,
    );

  return {
    async createCode(request) {
      return understandCode(await call({ method: "POST", path: "/codes", body: JSON.stringify(request) }));
    },
    async listEvents(after, limit) {
      const query = new URLSearchParams({ limit: String(limit), ...(after === null ? {} : { after }) });
      return understandEvents(await call({ method: "GET", path: `/events?${query}` }), after);
    },
    close: () => pool.destroy(),
  };
}

const jsonBody = { "content-type": "application/json" };

const outcomeOf = (exchanged: Exchange): CallOutcome =>
  exchanged.outcome === "answered" ? { status: exchanged.answer.status } : { errorType: exchanged.outcome };

async function exchange(
  pool: Pool,
  host: string,
  timeout: number,
  options: Dispatcher.RequestOptions,
): Promise<Exchange> {
  const signal = AbortSignal.timeout(timeout);
  const ended = () => ({ outcome: "timeout" as const, detail: `no answer within ${timeout} ms` });
  for (let attempts = 1; ; attempts++) {
    const exchanged = await attempt(pool, host, { ...options, signal });
    if (signal.aborted) return ended();
    const isAnswered = exchanged.outcome === "answered";
    const { status, retryAfterSeconds } = isAnswered ? exchanged.answer : {};
    const code = isAnswered ? (ownErrorCode(exchanged.answer) ?? "UNEXPECTED_ANSWER") : "UNREACHABLE";
    const call = { attempts, retries: MAX_RETRIES, isRepeatable: true, random: Math.random() };
    // The service may close a kept-alive socket while a request is written.
    const isDropped = attempts === 1 && exchanged.outcome === "unreachable" && exchanged.isDroppedSocket;
    const seconds = isDropped ? 0 : pauseBeforeRetry({ status, code, retryAfterSeconds }, call);
    if (seconds === undefined || seconds > MAX_PAUSE_SECONDS) return exchanged;
    await setTimeout(seconds * 1000, undefined, { signal }).catch(() => {});
    if (signal.aborted) return isAnswered ? exchanged : ended();
  }
}

type Attempt = Exchange & { isDroppedSocket?: boolean };

async function attempt(pool: Pool, host: string, options: Dispatcher.RequestOptions): Promise<Attempt> {
  try {
    const { statusCode, headers, body } = await pool.request(options);
    const json = parseJson(await readBounded(body));
    const retryAfter = retryAfterSeconds(headers["retry-after"]?.toString(), new Date()) ?? 0;
    const isUsable = retryAfter > 0 && retryAfter <= 86_400;
    const answer = { status: statusCode, retryAfterSeconds: isUsable ? retryAfter : undefined, json, host };
    return { outcome: "answered", answer };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { outcome: "unreachable", detail, isDroppedSocket: isDroppedSocket(error) };
  }
}

function isDroppedSocket(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE";
}

async function readBounded(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

function understandCode(exchanged: Exchange): RequestedCode {
  if (exchanged.outcome !== "answered") {
    const reason = exchanged.outcome === "timeout" ? "timeout" : "ad-service-down";
    return { outcome: "unavailable", reason, detail: exchanged.detail };
  }
  const { status, json, retryAfterSeconds } = exchanged.answer;
  const later = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const detail = describe(exchanged.answer);
  if (status === 429) return { outcome: "unavailable", reason: "rate-limited", ...later, detail };
  if (status >= 500) return { outcome: "unavailable", reason: "ad-service-down", ...later, detail };
  if (status >= 400) return { outcome: "unavailable", reason: "refused", detail };
  // By contract, success is exactly 200. The code goes into links unchanged.
  const parsed = createCodeResponse.safeParse(json);
  const isSound = status === 200 && parsed.success && /^[0-9A-Za-z]{1,64}$/.test(parsed.data.code);
  if (!isSound) return { outcome: "unavailable", reason: "unexpected-answer", detail };
  return { outcome: "issued", code: parsed.data };
}

function understandEvents(exchanged: Exchange, after: string | null): ListedEvents {
  if (exchanged.outcome !== "answered") return { outcome: "unavailable", detail: exchanged.detail };
  const { status, json } = exchanged.answer;
  // The page of a proxy says nothing about the service's endpoints and cursors.
  if (json === undefined) return { outcome: "unavailable", detail: describe(exchanged.answer) };
  if (after !== null && (status === 400 || status === 410)) return { outcome: "bad-cursor" };
  if (status === 404 || status === 405 || status === 410) return { outcome: "not-offered" };
  const page = eventsPage.safeParse(json);
  if (status !== 200 || !page.success) return { outcome: "unavailable", detail: describe(exchanged.answer) };
  const { events: listed, next, has_more: hasMore } = page.data;
  const events = listed.flatMap((event) => listedEvent.safeParse(event).data ?? []);
  return { outcome: "listed", events, unreadable: listed.length - events.length, next, hasMore };
}

/** The code of the ad service's own error; undefined for the answer of a proxy. */
function ownErrorCode({ json }: Answer): string | undefined {
  return errorEnvelope.safeParse(json).data?.error.code;
}

function describe(answer: Answer): string {
  const { status, json, host } = answer;
  if (json !== undefined) return `${status} ${JSON.stringify(json).slice(0, 200)}`;
  return `${status} from a proxy or another server at ${host}: check AD_SERVICE_URL and what stands in front of it`;
}
