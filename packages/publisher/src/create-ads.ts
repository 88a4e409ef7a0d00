import type { AdEvent } from "./verify-webhook.ts";

export interface AdsOptions {
  /** Of the ad service: `https://ads.example`. */
  readonly url: string;
  /** The bot's API token; while tokens rotate a list, of which the next is tried where one is refused. */
  readonly token: string | readonly string[];
  readonly botId: string;
  /** For each attempt; 10 s by default. */
  readonly timeoutMs?: number;
  /** Further attempts after 429, 503 and lost connections; 2 by default. */
  readonly retries?: number;
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface Code {
  readonly code: string;
  readonly expiresAt: string;
  readonly expiresInSeconds: number;
  /** The address of a `web_app` button; undefined where the service does not send it. */
  readonly miniappUrl: string | undefined;
  /** For users whose messenger has no mini-apps; undefined where the service does not send it. */
  readonly directLink: string | undefined;
}

export interface Availability {
  readonly isAvailable: boolean;
  readonly reason: "cooldown" | "daily-cap" | "no-ad" | "bot-suspended" | undefined;
  /** When it is worth asking again; undefined where it is unknown. */
  readonly availableAt: string | undefined;
}

export interface ListedEvent extends AdEvent {
  readonly delivery: "waiting" | "sending" | "delivered" | "failed" | "held" | "unknown";
}

export interface EventsPage {
  readonly events: readonly ListedEvent[];
  /** Pass as `after` for the next page. */
  readonly next: string;
  readonly hasMore: boolean;
}

export interface WebhookTest {
  readonly eventId: string;
  /** Answered 2xx. */
  readonly isDelivered: boolean;
  readonly status: number | undefined;
  readonly errorClass: string | undefined;
  readonly answer: string | undefined;
}

export interface Ads {
  /** Asked again for the same user and reference, it returns the same code while that is fresh and has earned nothing. */
  createCode(wanted: { readonly userId: string; readonly reference?: string }, options?: CallOptions): Promise<Code>;
  /** Whether the user could earn now. */
  availability(userId: string, options?: CallOptions): Promise<Availability>;
  /** What a code earned, and why it did not: the answer of `GET /client/v1/codes/{code}`. */
  code(code: string, options?: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  /** Events in the order of their commits; following `next` misses none. */
  events(query?: { readonly after?: string; readonly limit?: number }, options?: CallOptions): Promise<EventsPage>;
  /** The answer of `GET /client/v1/stats`. */
  stats(query?: StatsQuery, options?: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  /** Sends a test event to the bot's webhook now, and reports what was answered. */
  testWebhook(test?: WebhookTestRequest, options?: CallOptions): Promise<WebhookTest>;
  /** Sends an event once more. */
  redeliver(eventId: string, options?: CallOptions): Promise<void>;
}

export interface StatsQuery {
  readonly from?: string;
  readonly to?: string;
  readonly by?: "hour" | "day" | "campaign" | "creative";
}

export interface WebhookTestRequest {
  readonly event?: "rewarded" | "direct_link";
  /** A listed tester of the bot. */
  readonly userId?: string;
}

/** The ad service refused, is busy or cannot be reached. */
export class AdsError extends Error {
  override readonly name = "AdsError";
  /** HTTP status; undefined without an answer. */
  readonly status: number | undefined;
  /** The service's `UPPER_SNAKE` code, or `UNREACHABLE`. */
  readonly code: string;
  /** When it is worth trying again; undefined where the service did not say. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    facts: { status?: number | undefined; code: string; retryAfterSeconds?: number | undefined; cause?: unknown },
  ) {
    super(message, { cause: facts.cause });
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfterSeconds = facts.retryAfterSeconds;
  }
}

interface Call extends CallOptions {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  /** May be sent again when the connection was lost, since a second one changes nothing. */
  readonly isRepeatable: boolean;
}

/** A longer wait is the caller's to decide. */
const LONGEST_PAUSE_SECONDS = 5;

/** A client of `/client/v1` for one bot. Every method rejects with {@link AdsError}, or with the reason of an aborted signal. */
export function createAds(options: AdsOptions): Ads {
  const { url, botId, timeoutMs = 10_000, retries = 2, fetch: send = fetch } = options;
  const tokens = [options.token].flat().filter((token) => token !== "");
  if (tokens.length === 0) throw new Error("createAds needs the bot's API token");
  const base = `${url.replace(/\/+$/, "")}/client/v1`;
  let tokenIndex = 0;

  async function attempt({ method, path, query = {}, body, signal }: Call): Promise<Response> {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    );
    const search = given.length > 0 ? `?${new URLSearchParams(given)}` : "";
    const timeout = AbortSignal.timeout(timeoutMs);
    return send(base + path + search, {
      method,
      headers: {
        authorization: `Bearer ${tokens[tokenIndex]}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
  }

  async function call(request: Call): Promise<Readonly<Record<string, unknown>>> {
    const { signal, isRepeatable } = request;
    for (let attempts = 1; ; attempts++) {
      let error: AdsError;
      try {
        const response = await attempt(request);
        const answer: unknown = await response.json().catch(() => undefined);
        if (response.ok && typeof answer === "object" && answer !== null) return answer as Record<string, unknown>;
        error = errorOf(response, answer);
      } catch (cause) {
        signal?.throwIfAborted();
        error = new AdsError("the ad service did not answer", { code: "UNREACHABLE", cause });
      }
      if (error.status === 401 && tokenIndex + 1 < tokens.length) {
        tokenIndex += 1;
        continue;
      }
      const isPassing = error.status === 429 || error.status === 503 || (isRepeatable && error.status === undefined);
      const pauseSeconds = error.retryAfterSeconds ?? 0.2 * 2 ** attempts;
      if (!isPassing || attempts > retries || pauseSeconds > LONGEST_PAUSE_SECONDS) throw error;
      await pause(pauseSeconds * 1000, signal);
    }
  }

  return {
    async createCode({ userId, reference }, { signal } = {}) {
      const body = { bot_id: botId, user_tg_id: userId, ...(reference !== undefined && { reference }) };
      const created = await call({
        method: "POST",
        path: "/codes",
        body,
        isRepeatable: true,
        ...(signal && { signal }),
      });
      return {
        code: String(created.code),
        expiresAt: String(created.expires_at),
        expiresInSeconds: Number(created.expires_in),
        miniappUrl: textOf(created.miniapp_url),
        directLink: textOf(created.direct_link),
      };
    },
    async availability(userId, { signal } = {}) {
      const query = { user_tg_id: userId };
      const found = await call({ ...get("/availability", query), ...(signal && { signal }) });
      const reason = textOf(found.reason) as Availability["reason"];
      return { isAvailable: found.available === true, reason, availableAt: textOf(found.available_at) };
    },
    code: (code, { signal } = {}) => call({ ...get(`/codes/${encodeURIComponent(code)}`), ...(signal && { signal }) }),
    async events({ after, limit } = {}, { signal } = {}) {
      const page = await call({ ...get("/events", { after, limit }), ...(signal && { signal }) });
      const events = Array.isArray(page.events) ? page.events.map(listedEventOf) : [];
      return { events, next: String(page.next), hasMore: page.has_more === true };
    },
    stats: ({ from, to, by } = {}, { signal } = {}) =>
      call({ ...get("/stats", { from, to, by }), ...(signal && { signal }) }),
    async testWebhook({ event, userId } = {}, { signal } = {}) {
      const body = { ...(event && { event }), ...(userId && { user_tg_id: userId }) };
      const path = "/webhook/test";
      const tested = await call({ method: "POST", path, body, isRepeatable: false, ...(signal && { signal }) });
      return {
        eventId: String(tested.event_id),
        isDelivered: tested.delivered === true,
        status: typeof tested.status === "number" ? tested.status : undefined,
        errorClass: textOf(tested.error_class),
        answer: textOf(tested.answer),
      };
    },
    async redeliver(eventId, { signal } = {}) {
      const path = `/events/${encodeURIComponent(eventId)}/redeliver`;
      await call({ method: "POST", path, isRepeatable: false, ...(signal && { signal }) });
    },
  };
}

function get(path: string, query: Call["query"] = {}): Call {
  return { method: "GET", path, query, isRepeatable: true };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function listedEventOf(listed: Readonly<Record<string, unknown>>): ListedEvent {
  return {
    event: listed.event as AdEvent["event"],
    userId: String(listed.user_tg_id),
    eventId: textOf(listed.event_id),
    botId: textOf(listed.bot_id),
    code: textOf(listed.code),
    reference: textOf(listed.reference),
    occurredAt: textOf(listed.occurred_at),
    isTest: listed.test === true || listed.user_tg_id === "0",
    delivery: listed.delivery as ListedEvent["delivery"],
  };
}

function errorOf(response: Response, answer: unknown): AdsError {
  const { code = "UNEXPECTED_ANSWER", message = `the ad service answered ${response.status}` } =
    (answer as { error?: { code?: string; message?: string } } | undefined)?.error ?? {};
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(seconds) ? seconds : undefined;
  return new AdsError(message, { status: response.status, code, retryAfterSeconds });
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
