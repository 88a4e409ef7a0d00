import { describeRefusal, refusalOfAnswer } from "@intermission/ad-core/webhook-refusal";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { HttpError } from "@intermission/server/http-server";
import { notFound } from "@intermission/server/refuse";
import type { ErrorClass } from "../outbound/outgoing-request.ts";
import type { EndpointExchange } from "./attempt.ts";
import { type BlockedReason, endpointBlockedReason, endpointNotBefore } from "./blocked-reason.ts";
import type { DisabledReason } from "./endpoint-health.ts";
import type { DeliveryState, EndReason } from "./enqueue-webhook.ts";

export interface ListedDelivery {
  botId: string;
  eventId: string;
  event: "rewarded" | "direct_link";
  userId: string;
  isTest: boolean;
  state: DeliveryState;
  attempts: number;
  /** When the next attempt is due, while `waiting`. */
  dueAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** Why it is not sent again automatically, when `failed` or `unknown`. */
  endReason: EndReason | null;
}

interface DeliveryRow {
  bot_id: string;
  event_id: string;
  event: ListedDelivery["event"];
  user_id: string;
  is_test: boolean;
  state: DeliveryState;
  attempts: number;
  due_at: Date;
  created_at: Date;
  finished_at: Date | null;
  end_reason: EndReason | null;
}

/*
 * Reads one page of each bot by its index, then the newest of these: the cost does not depend on the number of events.
 * The state is a literal, so that the planner can use a partial index. "f" sorts after every event id.
 */
const listOf = (state: DeliveryState | "any") =>
  statement<DeliveryRow>(
    `deliveries.list-${state}`,
    `select newest.*, events.event, events.user_id, events.is_test
    from (
      select of_bot.* from bots cross join lateral (
        select * from deliveries
        where deliveries.bot_id = bots.bot_id and event_id < coalesce($2, 'f')
          ${state === "any" ? "" : `and state = '${state}'`}
        order by event_id desc limit $3
      ) as of_bot
      where $1::text is null or bots.bot_id = $1
      order by of_bot.event_id desc limit $3
    ) as newest join events using (bot_id, event_id)
    order by newest.event_id desc`,
  );

const lists = {
  any: listOf("any"),
  waiting: listOf("waiting"),
  sending: listOf("sending"),
  delivered: listOf("delivered"),
  failed: listOf("failed"),
  held: listOf("held"),
  unknown: listOf("unknown"),
};

/** Newest first: event ids begin with their time. `before` is the last event id of the previous page. */
export async function listDeliveries(
  database: Pick<Database, "run">,
  wanted: { botId?: string | undefined; state?: DeliveryState | undefined; before?: string | undefined; limit: number },
): Promise<ListedDelivery[]> {
  const { botId = null, state = "any", before = null, limit } = wanted;
  const rows = await database.run(lists[state], [botId, before, limit]);
  return rows.map(listedDelivery);
}

/** A delivery with the fields of its event, as an operator sees it. */
function listedDelivery(row: DeliveryRow): ListedDelivery {
  const isOver = row.state === "failed" || row.state === "unknown";
  return {
    botId: row.bot_id,
    eventId: row.event_id,
    event: row.event,
    userId: row.user_id,
    isTest: row.is_test,
    state: row.state,
    attempts: row.attempts,
    dueAt: row.state === "waiting" ? row.due_at : null,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    endReason: isOver ? row.end_reason : null,
  };
}

export interface DeliveryAttempt extends EndpointExchange {
  attempt: number;
  nextAt: Date | null;
  /** Requested explicitly, outside the schedule. */
  isReplay: boolean;
}

export interface ShownDelivery extends ListedDelivery {
  /** Set while a replay is pending: the state that the delivery returns to if the replay fails. */
  resumeState: "waiting" | "delivered" | "unknown" | null;
  /** Why nothing is sent to the endpoint now; null: due deliveries are sent. */
  blockedReason: BlockedReason | null;
  /** Until when the endpoint rests or its breaker allows no probe; null: neither. */
  notBefore: Date | null;
  /** The bytes that each attempt sends, as text. */
  body: string;
  log: DeliveryAttempt[];
}

const show = statement<
  DeliveryRow & { body: string } & Pick<ShownDelivery, "resumeState" | "blockedReason" | "notBefore">
>(
  "deliveries.show",
  `select deliveries.*, events.event, events.user_id, events.is_test, events.body,
    case when deliveries.state in ('waiting', 'sending', 'held') then resume_state end as "resumeState",
    ${endpointBlockedReason} as "blockedReason", ${endpointNotBefore} as "notBefore"
  from deliveries join events using (bot_id, event_id) left join endpoints using (bot_id)
  where deliveries.bot_id = $1 and event_id = $2`,
);

const readAttempts = statement<DeliveryAttempt>(
  "deliveries.attempts",
  `select attempt, started_at as "startedAt", url, address, status, error_class as "errorClass",
    dns_ms as "dnsMs", tcp_ms as "tcpMs", tls_ms as "tlsMs", first_byte_ms as "firstByteMs", total_ms as "totalMs",
    response_text as "responseText", next_at as "nextAt", is_replay as "isReplay"
  from delivery_attempts where bot_id = $1 and event_id = $2 order by attempt`,
);

/** One delivery with every attempt, oldest first; undefined when no event has this id. */
export async function showDelivery(
  database: Database,
  { eventId }: { eventId: string },
): Promise<ShownDelivery | undefined> {
  const botId = await findBotOfEvent(database, eventId);
  if (botId === undefined) return undefined;
  const [row] = await database.run(show, [botId, eventId]);
  if (!row) return undefined;
  return {
    ...listedDelivery(row),
    resumeState: row.resumeState,
    blockedReason: row.blockedReason,
    notBefore: row.notBefore,
    body: row.body,
    log: await database.run(readAttempts, [botId, eventId]),
  };
}

// One primary key probe for each bot: the key begins with the bot, so a search by event id alone would read the whole table.
const find = statement<{ botId: string }>(
  "deliveries.bot-of-event",
  `select bots.bot_id as "botId" from bots cross join lateral (
    select from deliveries where deliveries.bot_id = bots.bot_id and event_id = $1 offset 0
  ) as delivery
  limit 1`,
);

/** The bot of an event, for an operator who knows only the event's id. */
export async function findBotOfEvent(database: Pick<Database, "run">, eventId: string): Promise<string | undefined> {
  const [row] = await database.run(find, [eventId]);
  return row?.botId;
}

export function unknownEvent(eventId: string): HttpError {
  return notFound(`there is no event ${eventId}; see the latest with: deliveries list`);
}

/** Why a delivery is in its state, and the operator's next step. */
export function explainDelivery(delivery: ShownDelivery): string {
  const { state, botId, eventId, blockedReason, endReason, isTest } = delivery;
  const again = `send it again with: deliveries replay ${eventId}`;
  if (state === "delivered") return "it was answered 2xx";
  if (state === "sending") return "an attempt is under way";
  if (state === "waiting") return explainWaiting(delivery);
  if (state === "held") {
    return blockedReason === null ? "it was held, and is sent shortly" : explainToOperator(blockedReason, botId);
  }
  if (isTest) return `a test is sent once; make another with: endpoints test ${botId}`;
  if (state === "unknown") {
    return `it is unknown whether it arrived, and the bot's webhooks are sent at most once; ask its publisher, then ${again}`;
  }
  if (endReason === null) return again;
  return `${endings[endReason]}; ${again}`;
}

const endings: Record<EndReason, string> = {
  "attempts-used-up": "no attempt of the schedule was answered 2xx",
  "at-most-once": "it was not answered 2xx, and the bot's webhooks are sent at most once",
  "held-too-long": "it was held for 30 days",
  erased: "its user was erased before it was delivered",
  test: "a test is sent once",
};

function explainWaiting({ botId, blockedReason, notBefore, dueAt, resumeState }: ShownDelivery): string {
  if (blockedReason !== null) return explainToOperator(blockedReason, botId);
  if (notBefore !== null && (dueAt === null || notBefore > dueAt)) {
    return `its endpoint failed, and is in backoff until ${notBefore.toISOString()}; see: endpoints show ${botId}`;
  }
  if (resumeState !== null) return `it is a replay; if that fails, its state is ${resumeState} again`;
  return "its next attempt is scheduled";
}

const byStatus: Record<number, string> = {
  400: "it did not understand the request: it must accept JSON by POST and ignore unknown fields",
  401: "it rejected the signature: does it verify the raw bytes, with the bot's current token, and is its clock right? See: bots show",
  403: "something rejects our requests: a signature check, or a firewall in front of it that blocks our address or our user agent",
  404: "there is nothing at this path: is the address right, and is the newest version deployed? See: endpoints show",
  405: "it does not accept POST at this path: is the address right?",
  410: "it reports that it is gone for good; after an hour of that it is disabled. Is the address right?",
  411: "it does not accept this kind of request; we send Content-Length",
  413: "it rejects bodies of this size; ours have at most 20 kB",
  415: "it must accept Content-Type: application/json",
  429: "it gets too many requests; lower the number in flight with: endpoints set --max-in-flight 1",
  502: "the proxy in front of it cannot reach it: is the publisher's server running?",
  503: "it is overloaded or in maintenance",
  504: "the proxy in front of it got no answer from it in time",
};

const byClass: Record<ErrorClass, string> = {
  dns: "its name cannot be resolved: is it spelled right, and is it in public DNS?",
  refused: "nothing listens at its address and port: is its server running, and the port open?",
  reset: "it closed the connection early: look at its log, and at the proxy or firewall in front of it",
  tls: "no trusted TLS connection: is its certificate valid, for this name, and sent with its intermediate certificates?",
  "timeout-connect": "no connection within 5 seconds: a firewall drops packets, or the server is gone",
  "timeout-total":
    "no complete answer within 15 seconds: it should store the event, answer 2xx immediately, and work afterwards",
  "blocked-address":
    "its name resolves to an address that is not public; if that is intended, allow it in WEBHOOK_ALLOWED_NETWORKS",
  redirect: "redirects are not followed: set the address that it redirects to, with: bots update --webhook-url",
  protocol: "its answer is not valid HTTP/1.1: is there a web server at this port, and does it use TLS?",
  "too-large": "its headers are too large: it should answer with a plain 200",
};

/** What to check when an endpoint answers like this, in plain words; undefined when all is well. */
export function adviseOnAnswer(answer: {
  status: number | null;
  errorClass: string | null;
  text: string | null;
}): string | undefined {
  const { status, errorClass, text } = answer;
  if (errorClass !== null) return isErrorClass(errorClass) ? byClass[errorClass] : "look at its log";
  if (status === null) return "the outcome is unknown: this service failed meanwhile; see its own log";
  if (status >= 200 && status <= 299) return undefined;
  const refusal = status === 401 && text !== null ? refusalOfAnswer(text) : undefined;
  if (refusal) return `it rejected the signature: ${describeRefusal(refusal, "its machine")}`;
  return byStatus[status] ?? (status >= 500 ? "it failed: look at its own log" : "it refused: look at its own log");
}

function isErrorClass(text: string): text is ErrorClass {
  return Object.hasOwn(byClass, text);
}

/** Why nothing is sent to a bot's endpoint, and the operator's next step. */
export function explainToOperator(blockedReason: BlockedReason, botId: string): string {
  const enable = `enable it with: endpoints enable ${botId}`;
  const reasons: Record<BlockedReason, string> = {
    "no-endpoint": `the bot has no address for webhooks; give it one with: bots update ${botId} --webhook-url <url>`,
    pending: `its endpoint has not answered a test 2xx yet; see what it answers with: endpoints test ${botId}`,
    operator: `its endpoint was disabled ${disabledBecause.operator}; ${enable}`,
    gone: `its endpoint was disabled ${disabledBecause.gone}; ${enable}`,
    failing: `its endpoint was disabled ${disabledBecause.failing}; ${enable}`,
    "no-token": `the bot has no token to sign with; make one with: tokens create --bot-id ${botId}`,
  };
  return reasons[blockedReason];
}

export const disabledBecause: Record<DisabledReason, string> = {
  operator: "by an operator",
  gone: "for answering only 410 Gone",
  failing: "for accepting nothing for five days",
};

const testIt = "send a test with: POST /client/v1/webhook/test";
const askOperator = "ask the operator of this service to enable it";

/** Why nothing is sent to a bot's endpoint, and the publisher's next step. */
export const explainToPublisher: Record<BlockedReason, string> = {
  "no-endpoint": "the bot has no webhook address; ask the operator of this service to set one",
  pending: `the bot's endpoint has not yet answered a test event with a 2xx status; ${testIt}`,
  operator: `the bot's endpoint was disabled by the operator of this service; ${askOperator}`,
  gone: `the bot's endpoint was disabled because it only answered 410 Gone; once it works again, ${askOperator}`,
  failing: `the bot's endpoint was disabled because it accepted nothing for five days; once it works again, ${askOperator}`,
  "no-token": "the bot has no token to sign with; ask the operator of this service for one",
};
