import { AdsError, unexpectedAnswer } from "./ads-error.ts";
import { type Card, cardOf } from "./cards.ts";
import type { CodeDescription, EventAttempts, NamedRewards, ReferenceStats, Stats } from "./client-answers.ts";
import { apiTokens, botIdOf, requireOptions, serverAddress, wholeNumberOf } from "./client-settings.ts";
import { pause } from "./pause.ts";
import { readBody } from "./read-body.ts";
import { personIdOf, type UserId } from "./read-user-id.ts";
import { type Task, taskOf } from "./tasks.ts";
import { type AdEvent, eventOf } from "./verify-webhook.ts";
import type { WrongArgument } from "./wrong-argument.ts";

/** `url`, `token` and `botId` may be variables that are not set, which `createAds` names. */
export interface AdsOptions {
  /** Address of the ad service: `https://rewards.example.com`. `/client/v1` at its end is left out. */
  readonly url: string | undefined;
  /** The bot's API token, or several while tokens rotate: if the service refuses one, the call is sent with the next. */
  readonly token: string | undefined | readonly (string | undefined)[];
  /** The bot's Telegram id: the digits before the colon of its token. */
  readonly botId: UserId | undefined;
  /** Limit of each attempt; 10 s by default, and 25 s for `testWebhook`, in which the service waits 15 s for the webhook. */
  readonly timeoutMs?: number | undefined;
  /**
   * Further attempts after 429, 502, 503, 504, Cloudflare's 52x and 530, and lost connections; 2 by default. Calls that must
   * not be repeated are sent again only if the service itself refused them as busy.
   */
  readonly retries?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The strings as your consent platform writes them. */
export interface Consent {
  /** Whether the law of the European Union applies to the user. */
  readonly gdpr?: boolean | undefined;
  /** Of IAB's Transparency and Consent Framework 2. */
  readonly tcf?: string | undefined;
  /** Of IAB's Global Privacy Platform, and its sections that apply. */
  readonly gpp?: string | undefined;
  readonly gppSid?: readonly number[] | undefined;
}

export interface Code {
  readonly code: string;
  readonly expiresAt: string;
  readonly expiresInSeconds: number;
  /** Address for a `web_app` button of an inline keyboard; undefined if the service does not send it. */
  readonly miniappUrl: string | undefined;
  /** Link for users whose messenger has no mini-apps; undefined if the service does not send it. */
  readonly directLink: string | undefined;
  /** Undefined if the bot's settings name no reward. */
  readonly rewards: NamedRewards | undefined;
}

export interface Availability {
  readonly isAvailable: boolean;
  readonly reason: "cooldown" | "daily-cap" | "no-ad" | "bot-suspended" | undefined;
  /** When to ask again; undefined if unknown. */
  readonly availableAt: string | undefined;
  /** Undefined if the bot's settings name no reward. */
  readonly rewards: NamedRewards | undefined;
}

export interface ListedEvent extends AdEvent {
  /** `not-kept`: the event is so old that its webhook is no longer kept. */
  readonly delivery: "waiting" | "sending" | "delivered" | "failed" | "held" | "unknown" | "not-kept";
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
  /** What to check, unless all is well; absent from older services. */
  readonly advice: string | undefined;
  /** Why a 2xx may not mean that the receiver records events; empty from older services. */
  readonly warnings: readonly string[];
}

export interface Ads {
  /** Returns the same code for the same user and reference while that code is fresh and has earned nothing. */
  createCode(
    request: {
      readonly userId: UserId;
      readonly reference?: string | undefined;
      /**
       * A view lets the user into this channel or group, which the mini-app names in place of the bot's reward. Give each channel
       * a reference of its own.
       */
      readonly join?: { readonly title: string } | undefined;
      /**
       * What the user has consented to, for buyers of ads: without it, neither the user's address nor an id goes to them. Null
       * withdraws it.
       */
      readonly consent?: Consent | null | undefined;
    },
    options?: CallOptions,
  ): Promise<Code>;
  /** Whether the user could earn now. */
  availability(userId: UserId, options?: CallOptions): Promise<Availability>;
  /**
   * Up to five channels for the user to join: those that are open, and new ones. Empty unless the bot's setting `hasTasks` is on.
   * `language`: the user's `language_code`.
   */
  tasks(
    request: {
      readonly userId: UserId;
      readonly reference?: string | undefined;
      readonly language?: string | undefined;
    },
    options?: CallOptions,
  ): Promise<readonly Task[]>;
  /** Where a task stands. The service asks Telegram about the user, in case the join was not reported. */
  checkTask(code: string, options?: CallOptions): Promise<Task>;
  /**
   * An ad of a network for the bot to send as a message, and then to report with `cardShown`; undefined: there is none now. Networks
   * are asked each time. `language`: the user's `language_code`; `consent` as with `createCode`.
   */
  card(
    request: {
      readonly userId: UserId;
      readonly language?: string | undefined;
      readonly consent?: Consent | null | undefined;
    },
    options?: CallOptions,
  ): Promise<Card | undefined>;
  /** Reports that a card was sent: it is paid once. False: it was reported too late, or is a tester's. */
  cardShown(cardId: string, options?: CallOptions): Promise<boolean>;
  /** What a code earned, and why it did not. */
  code(code: string, options?: CallOptions): Promise<CodeDescription>;
  /** Events in commit order, from the first one, after a cursor, or the `latest`; reading on from `next` misses none. */
  events(
    query?: {
      readonly after?: string | undefined;
      readonly limit?: number | undefined;
      readonly latest?: number | undefined;
    },
    options?: CallOptions,
  ): Promise<EventsPage>;
  stats(query?: StatsQuery, options?: CallOptions): Promise<Stats>;
  /**
   * What codes whose reference begins with `prefix` earned: of one placement, or of one size of a reward. The service reads at
   * most 100 000 events for an answer, and else asks for a shorter period or a longer prefix.
   */
  referenceStats(prefix: string, query?: ReferenceStatsQuery, options?: CallOptions): Promise<ReferenceStats>;
  /** Sends a test event to the bot's webhook now and returns the webhook's answer. */
  testWebhook(test?: WebhookTestRequest, options?: CallOptions): Promise<WebhookTest>;
  /** The attempts to send an event, with the answers to them and what to check. */
  attempts(eventId: string, options?: CallOptions): Promise<EventAttempts>;
  /** Sends an event once more. */
  redeliver(eventId: string, options?: CallOptions): Promise<void>;
}

export interface StatsQuery {
  /**
   * A date-time with an offset (`2026-01-31T08:00:00Z`), a date, whose beginning in UTC is meant, or how long ago it was:
   * `24h`, `7d`, `4w`.
   */
  readonly from?: string | Date | undefined;
  readonly to?: string | Date | undefined;
  readonly by?: "hour" | "day" | "campaign" | "creative" | undefined;
  /** Of days and hours, such as `Asia/Kolkata`; UTC by default. */
  readonly timeZone?: string | undefined;
}

export interface ReferenceStatsQuery extends Omit<StatsQuery, "by"> {
  readonly by?: "hour" | "day" | "reference" | undefined;
}

export interface WebhookTestRequest {
  readonly event?: "rewarded" | "direct_link" | undefined;
  /** A listed tester of the bot. */
  readonly userId?: UserId | undefined;
  /** A code of this tester, which the event then carries. It earns nothing by it. */
  readonly code?: string | undefined;
}

interface Call {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown | undefined;
  /** A second request changes nothing, so it may follow one whose answer was lost. */
  readonly isRepeatable: boolean;
  /** Without a limit by the caller; 10 s if absent. */
  readonly timeoutMs?: number | undefined;
}

/** The service waits 15 s for the webhook's answer, and may have to connect first. */
const TEST_TIMEOUT_MS = 25_000;

/** The largest answer, a page of 1000 events, has about 1 MB. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;

/**
 * A client of `/client/v1` for one bot. Throws a TypeError, which names the option and the usual variable, if an option cannot
 * be right. Every method rejects with {@link AdsError}, or with the reason of an aborted signal.
 */
export function createAds(options: AdsOptions): Ads {
  requireOptions(options, "createAds({ url, token, botId })");
  const botId = botIdOf(options.botId, { option: "botId", variable: "BOT_ID" });
  const call = callsOf(options);
  return {
    async createCode(request, { signal } = {}) {
      if (typeof request !== "object" || request === null) await refuse("request", request);
      const { userId, reference, join, consent } = request;
      if (reference !== undefined && !isReference(reference)) await refuse("reference", reference);
      const body = {
        bot_id: botId,
        user_tg_id: await requirePerson(userId),
        reference,
        join,
        consent: consent && consentOf(consent),
      };
      return codeOf(await call({ method: "POST", path: "/codes", body, isRepeatable: true }, signal));
    },
    async availability(userId, { signal } = {}) {
      return availabilityOf(await call(get("/availability", { user_tg_id: await requirePerson(userId) }), signal));
    },
    async tasks(request, { signal } = {}) {
      if (typeof request !== "object" || request === null) await refuse("request", request);
      const { userId, reference, language } = request;
      if (reference !== undefined && !isReference(reference)) await refuse("reference", reference);
      const body = { bot_id: botId, user_tg_id: await requirePerson(userId), reference, language };
      const { tasks } = await call({ method: "POST", path: "/tasks", body, isRepeatable: true }, signal);
      if (!Array.isArray(tasks)) throw unexpectedAnswer();
      return tasks.map(taskOf);
    },
    async checkTask(code, { signal } = {}) {
      if (!isText(code)) await refuse("code", code);
      const path = `/tasks/${encodeURIComponent(code)}/check`;
      return taskOf(await call({ method: "POST", path, isRepeatable: true }, signal));
    },
    async card(request, { signal } = {}) {
      if (typeof request !== "object" || request === null) await refuse("request", request);
      const { userId, language, consent } = request;
      const of = { bot_id: botId, user_tg_id: await requirePerson(userId), language };
      const body = { ...of, consent: consent && consentOf(consent) };
      const { card } = await call({ method: "POST", path: "/cards", body, isRepeatable: true }, signal);
      return card === null ? undefined : cardOf(card);
    },
    async cardShown(cardId, { signal } = {}) {
      if (!isText(cardId)) await refuse("cardId", cardId);
      const path = `/cards/${encodeURIComponent(cardId)}/shown`;
      return required((await call({ method: "POST", path, isRepeatable: true }, signal)).counted, "boolean");
    },
    async code(code, { signal } = {}) {
      if (!isText(code)) await refuse("code", code);
      return call<CodeDescription>(get(`/codes/${encodeURIComponent(code)}`), signal);
    },
    async events({ after, limit, latest } = {}, { signal } = {}) {
      return eventsPageOf(await call(get("/events", { after, limit, latest }), signal));
    },
    stats: ({ from, to, by, timeZone } = {}, { signal } = {}) =>
      call<Stats>(get("/stats", { from: momentAgo(from), to: momentAgo(to), by, time_zone: timeZone }), signal),
    referenceStats: (prefix, { from, to, by, timeZone } = {}, { signal } = {}) =>
      call<ReferenceStats>(
        get("/stats", { reference_prefix: prefix, from: momentAgo(from), to: momentAgo(to), by, time_zone: timeZone }),
        signal,
      ),
    async testWebhook({ event, userId, code } = {}, { signal } = {}) {
      const body = { event, user_tg_id: userId === undefined ? undefined : String(userId), code };
      const request = { method: "POST", path: "/webhook/test", body, isRepeatable: false } as const;
      return webhookTestOf(await call({ ...request, timeoutMs: TEST_TIMEOUT_MS }, signal));
    },
    async attempts(eventId, { signal } = {}) {
      if (!isText(eventId)) await refuse("eventId", eventId);
      return call<EventAttempts>(get(`/events/${encodeURIComponent(eventId)}/attempts`), signal);
    },
    async redeliver(eventId, { signal } = {}) {
      if (!isText(eventId)) await refuse("eventId", eventId);
      const path = `/events/${encodeURIComponent(eventId)}/redeliver`;
      await call({ method: "POST", path, isRepeatable: false }, signal);
    },
  };
}

/** Sends calls, again where that can help, with the first token that the service accepts. */
function callsOf(options: AdsOptions) {
  const { fetch: send = fetch } = options;
  const retries = wholeNumberOf(options.retries, { option: "retries", min: 0 }) ?? 2;
  const ownTimeoutMs = wholeNumberOf(options.timeoutMs, { option: "timeoutMs", min: 1, unit: " of milliseconds" });
  const address = { option: "url", variable: "AD_SERVICE_URL", server: "the ad service", path: "/client/v1" };
  const base = `${serverAddress(options.url, address)}/client/v1`;
  const tokens = apiTokens(options.token, { option: "token", variable: "AD_API_TOKEN" });
  let acceptedToken = 0;

  /** Returns the answer, or the error of one attempt. */
  async function attempt(request: Call, token: string | undefined, signal: AbortSignal | undefined) {
    const { method, path, query = {}, body } = request;
    const timeoutMs = ownTimeoutMs ?? request.timeoutMs ?? 10_000;
    const parameters = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = parameters.length > 0 ? `?${new URLSearchParams(parameters as [string, string][])}` : "";
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await send(base + path + search, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        body: JSON.stringify(body) ?? null,
        // A redirect to another origin, such as from http to https, would lose the token and turn a POST into a GET.
        redirect: "manual",
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const answer = parseJson(await readBody(response.body, MAX_ANSWER_BYTES));
      if (response.ok && answer !== undefined) return answer;
      return (await import("./failed-call.ts")).errorOf(response, answer, base);
    } catch (cause) {
      signal?.throwIfAborted();
      const { unansweredMessage } = await import("./failed-call.ts");
      const message = unansweredMessage(cause, { address: base, server: "the ad service", timeoutMs });
      return new AdsError(message, { code: "UNREACHABLE", cause });
    }
  }

  return async function call<Result = Answer>(request: Call, signal?: AbortSignal): Promise<Result> {
    let token = acceptedToken;
    let refusedTokens = 0;
    for (let attempts = 1; ; attempts++) {
      const answer = await attempt(request, tokens[token], signal);
      if (!(answer instanceof AdsError)) {
        acceptedToken = token;
        return answer as Result;
      }
      const { status, code } = answer;
      // The service checks the token before it reads the request: a refused request did nothing, so any may be sent again.
      if (status === 401 && code === "UNAUTHORIZED" && ++refusedTokens < tokens.length) {
        token = (token + 1) % tokens.length;
        attempts -= 1;
        continue;
      }
      const { pauseAfter } = await import("./failed-call.ts");
      const pauseMs = pauseAfter(answer, { attempts, retries, isRepeatable: request.isRepeatable });
      if (pauseMs === undefined) throw answer;
      await pause(pauseMs, signal);
    }
  };
}

const requirePerson = async (userId: unknown) => personIdOf(userId) ?? refuse("userId", userId);

const isText = (value: unknown) => typeof value === "string" && value !== "";
const isReference = (value: unknown) => isText(value) && String(value).length <= 128;

async function refuse(argument: WrongArgument, value: unknown): Promise<never> {
  throw (await import("./wrong-argument.ts")).wrongArgument(argument, value);
}

type Answer = Readonly<Record<string, unknown>>;

/** The object that the bytes contain, if they do. */
function parseJson(bytes: Uint8Array | undefined): Answer | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === "object" && value !== null ? (value as Answer) : undefined;
  } catch {
    return undefined;
  }
}

function get(path: string, query: Call["query"] = {}): Call {
  return { method: "GET", path, query, isRepeatable: true };
}

const HOURS = { h: 1, d: 24, w: 7 * 24 };

/** The moment that `7d` names; every other text is left to the service, which says what it takes. */
function momentAgo(text: string | Date | undefined): string | undefined {
  // Of an invalid date it is null, which the service refuses in words; toISOString() throws a RangeError.
  if (text instanceof Date) return text.toJSON();
  const [, count, unit] = /^([1-9]\d{0,3})([hdw])$/.exec(text ?? "") ?? [];
  if (count === undefined) return text;
  return new Date(Date.now() - Number(count) * HOURS[unit as keyof typeof HOURS] * 3_600_000).toISOString();
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

interface TypeOf {
  string: string;
  number: number;
  boolean: boolean;
}

/** A field that every answer has. */
function required<Type extends keyof TypeOf>(value: unknown, type: Type): TypeOf[Type] {
  if (typeof value !== type) throw unexpectedAnswer();
  return value as TypeOf[Type];
}

function codeOf(created: Answer): Code {
  return {
    code: required(created.code, "string"),
    expiresAt: required(created.expires_at, "string"),
    expiresInSeconds: required(created.expires_in, "number"),
    miniappUrl: textOf(created.miniapp_url),
    directLink: textOf(created.direct_link),
    rewards: created.rewards as NamedRewards | undefined,
  };
}

function availabilityOf(found: Answer): Availability {
  return {
    isAvailable: required(found.available, "boolean"),
    reason: textOf(found.reason) as Availability["reason"],
    availableAt: textOf(found.available_at),
    rewards: found.rewards as NamedRewards | undefined,
  };
}

function webhookTestOf(tested: Answer): WebhookTest {
  return {
    eventId: required(tested.event_id, "string"),
    isDelivered: tested.delivered === true,
    status: typeof tested.status === "number" ? tested.status : undefined,
    errorClass: textOf(tested.error_class),
    answer: textOf(tested.answer),
    advice: textOf(tested.advice),
    warnings: Array.isArray(tested.warnings) ? tested.warnings.map(String) : [],
  };
}

function eventsPageOf(page: Answer): EventsPage {
  if (!Array.isArray(page.events)) throw unexpectedAnswer();
  return {
    events: page.events.map(listedEventOf),
    next: required(page.next, "string"),
    hasMore: required(page.has_more, "boolean"),
  };
}

function listedEventOf(listed: Answer): ListedEvent {
  return { ...eventOf(listed), delivery: listed.delivery as ListedEvent["delivery"] };
}

function consentOf({ gdpr, tcf, gpp, gppSid: gpp_sid }: Consent) {
  return { gdpr, tcf, gpp, gpp_sid };
}
