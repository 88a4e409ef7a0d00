import {
  type ListAttemptsResponse,
  listAttemptsResponse,
  type RedeliverEventResponse,
  redeliverEventResponse,
  type TestWebhookResponse,
  testWebhookRequest,
  testWebhookResponse,
} from "@intermission/ad-core/client-api";
import { eventIdPattern } from "@intermission/ad-core/code";
import { type AttemptAnswer, adviseOnAnswer, adviseOnTest } from "@intermission/ad-core/delivery-advice";
import type { DeliveryAttempt, ShownDelivery } from "@intermission/operator-api/deliveries";
import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { HttpError } from "@intermission/server/http-server";
import { z } from "zod";
import { callerOf } from "../bots/authenticate-client.ts";
import { webhooksKeptSince } from "../retention/describe-retention.ts";
import { type EndpointTestOutcome, type EndpointTests, testEndpoint } from "./endpoint-tests.ts";
import type { Deliveries } from "./enqueue-webhook.ts";
import { blockedForPublisher, explainToPublisher } from "./explain-delivery.ts";
import { isNoLongerKept, showDelivery } from "./read-deliveries.ts";
import { type ReplayDeliveryOutcome, replayDelivery } from "./replay-deliveries.ts";

const conflict = (code: string, message: string) => new HttpError(409, code, message);
const noEvent = () => new HttpError(404, "NOT_FOUND", "this bot has no such event");

type TestRefusal = Exclude<EndpointTestOutcome["outcome"], "tested">;

const testRefusals = {
  "no-endpoint": () => conflict("NO_ENDPOINT", blockedForPublisher["no-endpoint"]),
  "no-token": () => conflict("NO_TOKEN", blockedForPublisher["no-token"]),
  "not-a-tester": () => new HttpError(400, "NOT_A_TESTER", "user_tg_id: must be one of the bot's listed testers"),
  "not-the-testers-code": () =>
    new HttpError(400, "BAD_REQUEST", "code: must be a code of this bot for the tester that user_tg_id names"),
  busy: () => conflict("TEST_UNDER_WAY", "a test is under way; try again in a few seconds"),
  "unknown-bot": () => new HttpError(404, "NOT_FOUND", "the bot is gone"),
} satisfies Record<TestRefusal, () => HttpError>;

/** The event is listed still, and nothing of its webhook is there. */
async function notKept(database: Database): Promise<HttpError> {
  const since = (await webhooksKeptSince(database)).toISOString();
  return new HttpError(
    410,
    "NOT_KEPT",
    `the webhook of this event is no longer kept, only those of events since ${since}; GET /client/v1/events still lists the event`,
  );
}

type ReplayRefusal = Exclude<ReplayDeliveryOutcome, { outcome: "replayed" | "held" }>["outcome"];

const replayRefusals = {
  "under-way": () => conflict("UNDER_WAY", "the event is being sent; check its outcome in a moment"),
  test: () => conflict("TEST_EVENT", "a test event is not sent again; send a test with: POST /client/v1/webhook/test"),
  "unknown-event": noEvent,
} satisfies Record<Exclude<ReplayRefusal, "not-kept">, () => HttpError>;

const testWebhook = {
  operationId: "testWebhook",
  description: "Sends a signed test event now and returns the response to it; a 2xx activates a pending endpoint.",
  body: testWebhookRequest,
  response: { 200: testWebhookResponse, ...refusals(404, 409) },
};
const listAttempts = {
  operationId: "listAttempts",
  description: "Lists the attempts to send an event, with the answers to them and what to check.",
  params: z.object({ event_id: z.string() }),
  response: { 200: listAttemptsResponse, ...refusals(404, 410) },
};
const redeliverEvent = {
  operationId: "redeliverEvent",
  description: "Sends an event again, unchanged: the same event_id, the same bytes.",
  params: z.object({ event_id: z.string() }),
  response: { 202: redeliverEventResponse, ...refusals(404, 409, 410) },
};

/** What a publisher can do about webhooks: test the endpoint, see the attempts, and have an event sent again. */
export function webhookClientRoutes(
  scope: CheckedScope,
  deps: { database: Database; deliveries: Deliveries; endpointTests: EndpointTests },
): void {
  const { endpointTests } = deps;
  scope.post("/webhook/test", { schema: testWebhook }, async (request) => {
    const { event, user_tg_id: userId, code } = request.body;
    const tested = await testEndpoint(endpointTests, { botId: callerOf(request).bot.botId, event, userId, code });
    if (tested.outcome !== "tested") throw testRefusals[tested.outcome]();
    return testWebhookAnswer(tested);
  });

  scope.get("/events/:event_id/attempts", { schema: listAttempts }, async (request) => {
    const { event_id: eventId } = request.params;
    if (!eventIdPattern.test(eventId)) throw noEvent();
    const event = { botId: callerOf(request).bot.botId, eventId };
    const delivery = await showDelivery(deps.database, event);
    if (!delivery) throw (await isNoLongerKept(deps.database, event)) ? await notKept(deps.database) : noEvent();
    return attemptsAnswer(delivery);
  });

  scope.post("/events/:event_id/redeliver", { schema: redeliverEvent }, async (request, reply) => {
    const { event_id: eventId } = request.params;
    // PostgreSQL rejects NUL, and no event id contains one.
    if (!eventIdPattern.test(eventId)) throw noEvent();
    const replayed = await replayDelivery(deps, { botId: callerOf(request).bot.botId, eventId });
    if (replayed.outcome === "held") throw conflict("HELD", blockedForPublisher[replayed.blockedReason]);
    if (replayed.outcome === "not-kept") throw await notKept(deps.database);
    if (replayed.outcome !== "replayed") throw replayRefusals[replayed.outcome]();
    const answer: RedeliverEventResponse = { event_id: eventId, delivery: "waiting" };
    return reply.code(202).send(answer);
  });
}

function testWebhookAnswer(tested: Extract<EndpointTestOutcome, { outcome: "tested" }>): TestWebhookResponse {
  const { eventId, isDelivered, status, errorClass, answer, warnings, phases, endpointState } = tested;
  const advice = adviseOnTest({ status, errorClass, text: answer, warnings }, "publisher");
  return {
    event_id: eventId,
    delivered: isDelivered,
    ...(status !== null && { status }),
    ...(errorClass !== null && { error_class: errorClass }),
    ...(answer !== null && { answer }),
    ...(advice !== undefined && { advice }),
    ...(warnings.length > 0 && { warnings }),
    total_ms: phases.totalMs ?? 0,
    ...(endpointState !== null && { endpoint: endpointState }),
  };
}

function attemptsAnswer(delivery: ShownDelivery): ListAttemptsResponse {
  const { eventId, event, isTest, state, dueAt, log } = delivery;
  return {
    event_id: eventId,
    event,
    ...(isTest && { test: true as const }),
    delivery: state,
    explanation: explainToPublisher(delivery),
    ...(dueAt !== null && { next_attempt_at: dueAt.toISOString() }),
    attempts: log.map(attemptAnswer),
  };
}

function attemptAnswer(made: DeliveryAttempt): ListAttemptsResponse["attempts"][number] {
  const { attempt, startedAt, url, status, errorClass, responseText: text, totalMs, nextAt, isReplay } = made;
  return {
    attempt,
    started_at: startedAt.toISOString(),
    url,
    ...(status !== null && { status }),
    ...(errorClass !== null && { error_class: errorClass }),
    ...(text !== null && { answer: text }),
    ...adviceOn({ status, errorClass, text }),
    ...(totalMs !== null && { total_ms: totalMs }),
    ...(nextAt !== null && { next_at: nextAt.toISOString() }),
    ...(isReplay && { redelivery: true as const }),
  };
}

function adviceOn(answer: AttemptAnswer): { advice?: string } {
  const advice = adviseOnAnswer(answer, "publisher");
  return advice === undefined ? {} : { advice };
}
