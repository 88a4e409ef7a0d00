import { randomBytes, randomUUID } from "node:crypto";
import type {
  CreateCodeResponse,
  DescribeCodeResponse,
  ListAttemptsResponse,
  ListEventsResponse,
  TestWebhookResponse,
} from "@intermission/ad-core/client-api";
import type { ReceiverWarning } from "@intermission/ad-core/client-words";
import { CODE_RANDOM_BYTES, newCode, telegramIdPattern } from "@intermission/ad-core/code";
import { adviseOnAnswer, adviseOnTest } from "@intermission/ad-core/delivery-advice";
import { warningOfAnswer } from "@intermission/ad-core/receiver-warning";
import type { NamedRewards } from "../client-answers.ts";
import { readBody } from "../read-body.ts";
import type { FakeEvents } from "./fake-events.ts";
import type { FakeAvailability } from "./fake-interface.ts";
import { fakeStats } from "./fake-stats.ts";

interface FakeCode {
  readonly code: string;
  readonly userId: string;
  readonly reference: string | undefined;
  /** Of the launch in which its ad was watched. */
  startParam?: string | undefined;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly earned: {
    readonly event: "rewarded" | "direct_link";
    readonly event_id: string;
    readonly occurred_at: string;
  }[];
}

export interface FakeState {
  readonly botId: string;
  readonly tokens: readonly string[];
  readonly testers: readonly string[];
  readonly lifetimeSeconds: number;
  readonly rewards: NamedRewards | undefined;
  readonly now: () => Date;
  /** The address of the fake, without a slash at its end. */
  url: string;
  readonly events: FakeEvents;
  readonly codes: Map<string, FakeCode>;
  availability: FakeAvailability;
}

/** An answer that is not a success. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Record<string, string>;
  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

interface Call {
  readonly state: FakeState;
  readonly query: URLSearchParams;
  /** The named part of the path. */
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

type Answer = object | Promise<object>;
const routes: { method: string; path: RegExp; status?: number; answer: (call: Call) => Answer }[] = [
  { method: "POST", path: /^\/codes$/, answer: createCode },
  { method: "GET", path: /^\/codes\/(?<id>[^/]+)$/, answer: describeCode },
  { method: "GET", path: /^\/availability$/, answer: availability },
  { method: "POST", path: /^\/tasks$/, answer: () => ({ tasks: [], reason: "not-enabled" }) },
  { method: "POST", path: /^\/cards$/, answer: () => ({ card: null, reason: "no-buyer" }) },
  { method: "GET", path: /^\/events$/, answer: listEvents },
  { method: "GET", path: /^\/stats$/, answer: stats },
  { method: "POST", path: /^\/webhook\/test$/, answer: testWebhook },
  { method: "GET", path: /^\/events\/(?<id>[^/]+)\/attempts$/, answer: listAttempts },
  { method: "POST", path: /^\/events\/(?<id>[^/]+)\/redeliver$/, status: 202, answer: redeliver },
];

const MAX_BYTES = 1024 * 1024;

/** Answers a request below `/client/v1`; `path` is what follows. */
export async function answerClient(state: FakeState, path: string, request: Request): Promise<Response> {
  const found = routes
    .map((route) => ({ ...route, match: route.path.exec(path) }))
    .filter(({ match }) => match !== null);
  const route = found.find(({ method }) => method === request.method);
  if (found.length === 0) throw new Refusal(404, "NOT_FOUND", "no such path");
  if (route === undefined) {
    const allow = found.map(({ method }) => method).join(", ");
    throw new Refusal(405, "METHOD_NOT_ALLOWED", `use ${allow}`, { allow });
  }
  authenticate(state, request.headers.get("authorization"));
  const id = decodeURIComponent(route.match?.groups?.id ?? "");
  const query = new URL(request.url).searchParams;
  const answer = await route.answer({ state, query, id, body: await readJson(request) });
  return Response.json(answer, { status: route.status ?? 200 });
}

function authenticate(state: FakeState, authorization: string | null): void {
  const token = /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1];
  if (token !== undefined && state.tokens.includes(token)) return;
  const message =
    token === undefined ? "send: Authorization: Bearer <api_token>" : "the token is unknown or was revoked";
  throw new Refusal(401, "UNAUTHORIZED", message, { "www-authenticate": "Bearer" });
}

async function readJson(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const bytes = await readBody(request.body, MAX_BYTES);
  if (bytes === undefined) throw new Refusal(413, "TOO_LARGE", "the body is too large");
  if (bytes.length === 0) return {};
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? ""))
    throw new Refusal(415, "UNSUPPORTED_MEDIA_TYPE", "send application/json");
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw badRequest("the body is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw badRequest("the body is not an object");
  return value as Record<string, unknown>;
}

const badRequest = (message: string) => new Refusal(400, "BAD_REQUEST", message);

function telegramIdOf(value: unknown, field: string): string {
  if (typeof value === "string" && telegramIdPattern.test(value)) return value;
  throw badRequest(`${field}: must be a string of 1 to 20 digits, without leading zeros`);
}

function createCode({ state, body }: Call): CreateCodeResponse {
  const { reference, join } = body;
  const botId = telegramIdOf(body.bot_id, "bot_id");
  const userId = telegramIdOf(body.user_tg_id, "user_tg_id");
  const isReference = typeof reference === "string" && /^[^\0\p{Surrogate}]{1,128}$/su.test(reference);
  if (reference !== undefined && !isReference) throw badRequest("reference: must be text of 1 to 128 characters");
  if (join !== undefined && !isJoin(join)) throw badRequest("join.title: must be text of 1 to 128 characters");
  if (botId !== state.botId)
    throw new Refusal(
      403,
      "FORBIDDEN",
      `the token belongs to another bot: it is of bot ${state.botId}, and bot_id is ${botId}`,
    );
  const now = state.now();
  const { code, expiresAt } = openCode(state, userId, isReference ? reference : undefined, now);
  return {
    code,
    expires_in: Math.max(0, Math.floor((expiresAt.getTime() - now.getTime()) / 1000)),
    expires_at: expiresAt.toISOString().replace(/\.\d+Z$/, "Z"),
    direct_link: `${state.url}/${code}`,
    miniapp_url: `${state.url}/app/${botId}?code=${code}`,
    ...(state.rewards && { rewards: state.rewards }),
  };
}

function isJoin(join: unknown): boolean {
  const { title } = Object(join) as { title?: unknown };
  return typeof title === "string" && /^[^\0\p{Surrogate}]{1,128}$/su.test(title);
}

/** The same code while it has earned nothing, and a minute and a quarter of its lifetime are left; else a new one. */
function openCode(state: FakeState, userId: string, reference: string | undefined, now: Date): FakeCode {
  const minLeftMs = Math.max(60, state.lifetimeSeconds / 4) * 1000;
  for (const known of [...state.codes.values()].reverse()) {
    if (known.userId !== userId || known.reference !== reference) continue;
    if (known.earned.length === 0 && known.expiresAt.getTime() - now.getTime() >= minLeftMs) return known;
    break;
  }
  const code = newCode("test", randomBytes(CODE_RANDOM_BYTES), now);
  const expiresAt = new Date(now.getTime() + state.lifetimeSeconds * 1000);
  const issued = { code, userId, reference, issuedAt: now, expiresAt, earned: [] };
  state.codes.set(code, issued);
  return issued;
}

function describeCode({ state, id }: Call): DescribeCodeResponse {
  const known = state.codes.get(id);
  if (known === undefined) throw new Refusal(404, "NOT_FOUND", "this bot has no such code");
  return {
    code: known.code,
    bot_id: state.botId,
    user_tg_id: known.userId,
    ...(known.reference !== undefined && { reference: known.reference }),
    ...(known.startParam !== undefined && { start_param: known.startParam }),
    issued_at: known.issuedAt.toISOString(),
    expires_at: known.expiresAt.toISOString(),
    is_expired: known.expiresAt <= state.now(),
    earned: known.earned,
    sessions: [],
    clicks: {},
    requests: {},
  };
}

function availability({ state, query }: Call): FakeAvailability {
  telegramIdOf(query.get("user_tg_id"), "user_tg_id");
  return { ...state.availability, ...(state.rewards && { rewards: state.rewards }) };
}

function listEvents({ state, query }: Call): ListEventsResponse {
  const [latest, after] = [query.get("latest"), query.get("after")];
  const limit = latest ?? query.get("limit") ?? "100";
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > 1000)
    throw badRequest(`${latest === null ? "limit" : "latest"}: must be a whole number from 1 to 1000`);
  if (latest !== null && after !== null) throw badRequest("latest: excludes after");
  const start = latest === null ? 0 : Math.max(0, state.events.length - Number(latest));
  const from = after === null ? start : Number(/^fake-(\d{1,9})$/.exec(after)?.[1] ?? Number.NaN);
  if (!(from <= state.events.length)) throw badRequest("after is not a cursor of this feed");
  const events = state.events.list(from, Number(limit));
  const next = from + events.length;
  return { events, next: `fake-${next}`, has_more: next < state.events.length };
}

function stats({ state, query }: Call): object {
  return fakeStats(state.events, { query, now: state.now(), refuse: badRequest });
}

async function testWebhook({ state, body }: Call): Promise<TestWebhookResponse> {
  const { event = "rewarded", user_tg_id: tester, code } = body;
  if (event !== "rewarded" && event !== "direct_link") throw badRequest("event: must be rewarded or direct_link");
  if (tester !== undefined && !state.testers.includes(telegramIdOf(tester, "user_tg_id")))
    throw new Refusal(400, "NOT_A_TESTER", "user_tg_id: must be one of the bot's listed testers");
  const known = typeof code === "string" ? state.codes.get(code) : undefined;
  if (code !== undefined && (known === undefined || known.userId !== tester))
    throw badRequest("code: must be a code of this bot for the tester that user_tg_id names");
  if (state.events.webhook === undefined) throw new Refusal(409, "NO_ENDPOINT", "the bot has no webhook address");
  const reference = known?.reference;
  const named = { ...(known && { code: known.code }), ...(reference !== undefined && { reference }) };
  const user_tg_id = String(tester ?? "0");
  const sent = state.events.add({ event, bot_id: state.botId, user_tg_id, ...named, test: true });
  const { status, isDelivered, answer, contentType, totalMs } = await state.events.send(sent);
  const warning = isDelivered ? warningOfAnswer({ text: answer, contentType }) : undefined;
  const warnings: ReceiverWarning[] = warning === undefined ? [] : [warning];
  if (isDelivered && (await state.events.acceptsWrongSignature(sent))) warnings.push("wrong-signature-accepted");
  const errorClass = status === undefined ? "connection" : null;
  const advice = adviseOnTest({ status: status ?? null, errorClass, text: answer, warnings }, "publisher");
  return {
    event_id: sent.fields.event_id,
    delivered: isDelivered,
    ...(status === undefined ? { error_class: "connection" } : { status }),
    answer,
    ...(advice !== undefined && { advice }),
    ...(warnings.length > 0 && { warnings }),
    total_ms: totalMs,
    endpoint: "active",
  };
}

function listAttempts({ state, id }: Call): ListAttemptsResponse {
  const stored = state.events.find(id);
  if (stored === undefined) throw new Refusal(404, "NOT_FOUND", "this bot has no such event");
  const { fields, delivery, attempts } = stored;
  return {
    event_id: id,
    event: fields.event,
    ...(fields.test && { test: true as const }),
    delivery,
    explanation: delivery === "delivered" ? "it was answered 2xx" : "sendWaiting() of the fake sends what waits",
    attempts: attempts.map(({ startedAt, url, status, answer, totalMs }, index) => ({
      attempt: index + 1,
      started_at: startedAt.toISOString(),
      url,
      ...(status === undefined ? { error_class: "connection" } : { status }),
      answer,
      ...adviceOn({ status, answer }),
      total_ms: totalMs,
    })),
  };
}

function adviceOn({ status, answer }: { status: number | undefined; answer: string }): { advice?: string } {
  const errorClass = status === undefined ? "connection" : null;
  const advice = adviseOnAnswer({ status: status ?? null, errorClass, text: answer }, "publisher");
  return advice === undefined ? {} : { advice };
}

async function redeliver({ state, id }: Call): Promise<object> {
  const event = state.events.find(id);
  if (event === undefined) throw new Refusal(404, "NOT_FOUND", "this bot has no such event");
  if (event.fields.test) throw new Refusal(409, "TEST_EVENT", "a test event is not sent again");
  if (event.delivery === "sending") throw new Refusal(409, "UNDER_WAY", "the event is being sent");
  if (state.events.webhook === undefined) throw new Refusal(409, "HELD", "the bot has no webhook address");
  event.delivery = "waiting";
  setImmediate(() => void state.events.send(event));
  return { event_id: id, delivery: "waiting" };
}

/** Answers an error as the contract says. */
export function refuse({ status, code, message, headers }: Refusal): Response {
  return Response.json({ error: { code, message } }, { status, headers });
}

/** The headers of every answer. */
export function commonHeaders(): Record<string, string> {
  return {
    "cache-control": "no-store",
    "x-request-id": randomUUID(),
    "ratelimit-policy": '"token";q=200;w=4',
    ratelimit: '"token";r=199;t=1',
  };
}
