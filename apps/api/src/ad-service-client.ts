import { type CreateCodeRequest, type CreateCodeResponse, createCodeResponse } from "@intermission/ad-core/client-api";
import { retryAfterSeconds } from "@intermission/ad-core/retry-after-seconds";
import { webhookEvent } from "@intermission/ad-core/webhook-event";
import type { CreateCodeOutcome } from "@intermission/publisher/companion";
import { type Dispatcher, Pool } from "undici";
import { z } from "zod";

export type RequestedCode =
  | { outcome: "issued"; code: CreateCodeResponse }
  | (Extract<CreateCodeOutcome, { outcome: "unavailable" }> & { detail: string });

// Less strict than the contract, so that one event of a newer kind does not block the others.
const listedEvent = webhookEvent.required({ event_id: true, bot_id: true, occurred_at: true });
const eventsPage = z.object({ events: z.array(z.unknown()), next: z.string().max(1000), has_more: z.boolean() });

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
  createCode(wanted: CreateCodeRequest): Promise<RequestedCode>;
  listEvents(after: string | null, limit: number): Promise<ListedEvents>;
  close(): Promise<void>;
}

interface Answer {
  status: number;
  retryAfterSeconds: number | undefined;
  json: unknown;
}

type Exchange = { outcome: "answered"; answer: Answer } | { outcome: "timeout" | "unreachable"; detail: string };

const maximalAnswerBytes = 4 * 1024 * 1024;

/** Connections to the ad service, which all bots share. */
export function adServiceConnections(url: string): Pool {
  return new Pool(new URL(url).origin, { connections: 64, pipelining: 1, connect: { timeout: 5000 } });
}

/**
 * The only client of the ad service. It acts as the bot of its token. Every answer is limited in size and time; the service's faults are outcomes, not
 * exceptions.
 */
export function adServiceClient(options: {
  url: string;
  token: string;
  timeoutMilliseconds?: number;
  /** By default one of its own. */
  connections?: Pool;
}): AdServiceClient {
  const { pathname } = new URL(options.url);
  const pool = options.connections ?? adServiceConnections(options.url);
  const timeout = options.timeoutMilliseconds ?? 10_000;
  const prefix = pathname.replace(/\/+$/, "");
  const headers = { authorization: `Bearer ${options.token}`, "accept-encoding": "identity" };

  const call = (request: { method: "GET" | "POST"; path: string; body?: string }) =>
    exchange(pool, timeout, {
      method: request.method,
      path: `${prefix}/client/v1${request.path}`,
      headers: request.body === undefined ? headers : { ...headers, "content-type": "application/json" },
      body: request.body ?? null,
    });

  return {
    async createCode(wanted) {
      return understandCode(await call({ method: "POST", path: "/codes", body: JSON.stringify(wanted) }));
    },
    async listEvents(after, limit) {
      const query = new URLSearchParams({ limit: String(limit), ...(after === null ? {} : { after }) });
      return understandEvents(await call({ method: "GET", path: `/events?${query}` }), after);
    },
    close: () => pool.destroy(),
  };
}

async function exchange(pool: Pool, timeout: number, options: Dispatcher.RequestOptions): Promise<Exchange> {
  const signal = AbortSignal.timeout(timeout);
  for (let attempt = 1; ; attempt++) {
    try {
      const { statusCode, headers, body } = await pool.request({ ...options, signal });
      const json = parseJson(await readBounded(body));
      const retryAfter = retryAfterSeconds(headers["retry-after"]?.toString(), new Date()) ?? 0;
      const isUsable = retryAfter > 0 && retryAfter <= 86_400;
      const answer = { status: statusCode, retryAfterSeconds: isUsable ? retryAfter : undefined, json };
      return { outcome: "answered", answer };
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      if (signal.aborted) return { outcome: "timeout", detail: `no answer within ${timeout} ms` };
      // The service may close a kept-alive socket while a request is written. Both calls are idempotent.
      if (attempt === 1 && isDroppedSocket(error)) continue;
      return { outcome: "unreachable", detail };
    }
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
    if (size > maximalAnswerBytes) throw new Error(`the answer is longer than ${maximalAnswerBytes} bytes`);
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
  if (after !== null && (status === 400 || status === 410)) return { outcome: "bad-cursor" };
  if (status === 404 || status === 405 || status === 410) return { outcome: "not-offered" };
  const page = eventsPage.safeParse(json);
  if (status !== 200 || !page.success) return { outcome: "unavailable", detail: describe(exchanged.answer) };
  const { events: listed, next, has_more: hasMore } = page.data;
  const events = listed.flatMap((event) => listedEvent.safeParse(event).data ?? []);
  return { outcome: "listed", events, unreadable: listed.length - events.length, next, hasMore };
}

function describe({ status, json }: Answer): string {
  return `${status} ${JSON.stringify(json ?? null).slice(0, 200)}`;
}
