import { eventType, momentInput, telegramId } from "@intermission/ad-core/client-api";
import { adviseOnAnswer } from "@intermission/ad-core/delivery-advice";
import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { listLimit } from "@intermission/server/parse-request";
import { conflict, invalid, invalidField } from "@intermission/server/refuse";
import { z } from "zod";
import { requireBots, unknownBot } from "../bots/bots.ts";
import type { BlockedReason } from "./blocked-reason.ts";
import { type EndpointTestOutcome, type EndpointTests, testEndpoint } from "./endpoint-tests.ts";
import { disableEndpoint, enableEndpoint, limitEndpoint, listEndpoints } from "./endpoints.ts";
import type { Deliveries } from "./enqueue-webhook.ts";
import { explainDelivery, explainToOperator } from "./explain-delivery.ts";
import { findBotOfEvent, listDeliveries, showDelivery, unknownEvent } from "./read-deliveries.ts";
import {
  countReplayable,
  type ReplayDeliveryOutcome,
  type ReplayRefusal,
  replayDeliveries,
  replayDelivery,
  replayRefusal,
} from "./replay.ts";

const ofBot = z.object({ botId: telegramId });
const eventIdParam = z.string().regex(/^[\w-]{1,64}$/, "must look like evt_…");
const ofEvent = z.object({ eventId: eventIdParam });
const deliveriesQuery = z.object({
  botId: telegramId.optional(),
  state: z.enum(["waiting", "sending", "delivered", "failed", "held", "unknown"]).optional(),
  before: eventIdParam.optional(),
  limit: listLimit,
});

const conflicts = { 200: z.unknown(), ...refusals(409) };
const readOperations = {
  list: {
    operationId: "listDeliveries",
    description: "Lists webhook deliveries, the latest first.",
    querystring: deliveriesQuery,
  },
  show: {
    operationId: "showDelivery",
    description: "Returns a delivery with its attempts, and what to do about a failed one.",
    params: ofEvent,
  },
};

export interface DeliveryOperatorDeps {
  database: Database;
  deliveries: Deliveries;
  endpointTests: EndpointTests;
}

/** Deliveries and the endpoints that they go to, for the operator. */
export function deliveryOperatorRoutes(scope: CheckedScope, deps: DeliveryOperatorDeps): void {
  readRoutes(scope, deps);
  replayRoutes(scope, deps);
  endpointRoutes(scope, deps);
}

function readRoutes(scope: CheckedScope, { database }: DeliveryOperatorDeps): void {
  scope.get("/deliveries", { schema: readOperations.list }, async ({ query }) => {
    await requireBots(database, [query.botId]);
    return { deliveries: await listDeliveries(database, query) };
  });

  scope.get("/deliveries/:eventId", { schema: readOperations.show }, async (request) => {
    const { eventId } = request.params;
    const botId = await findBotOfEvent(database, eventId);
    const delivery = botId === undefined ? undefined : await showDelivery(database, { botId, eventId });
    if (!delivery) throw unknownEvent(eventId);
    const last = delivery.log.at(-1);
    const advice = last && adviseOnAnswer({ ...last, text: last.responseText }, "operator");
    return { ...delivery, explanation: explainDelivery(delivery), advice };
  });
}

const scope = z.enum(["failed", "everything"]);
const counting = z.strictObject({ scope, since: momentInput });
const batch = z
  .strictObject({ scope, since: momentInput, until: momentInput, after: eventIdParam.nullish() })
  .meta({ examples: [{ scope: "failed", since: "2026-03-01T00:00:00Z", until: "2026-03-02T00:00:00Z" }] });

const replayOperations = {
  replayOne: {
    operationId: "replayDelivery",
    description: "Sends one event again, unchanged.",
    params: ofEvent,
    response: conflicts,
  },
  count: {
    operationId: "countReplayable",
    description: "Counts the events of a bot that would be sent again, and returns the moment until which it counted.",
    params: ofBot,
    querystring: counting,
    response: conflicts,
  },
  replayMany: {
    operationId: "replayDeliveries",
    description: "Sends one batch of a bot's events again; repeat it with `next` as `after` until `next` is null.",
    params: ofBot,
    body: batch,
    response: conflicts,
  },
};

/** Replays: one event by its id, or a bot's events of a period. */
function replayRoutes(app: CheckedScope, deps: DeliveryOperatorDeps): void {
  const { database } = deps;
  app.post("/deliveries/:eventId/replay", { schema: replayOperations.replayOne }, async (request) => {
    const { eventId } = request.params;
    const botId = await findBotOfEvent(database, eventId);
    if (botId === undefined) throw unknownEvent(eventId);
    const replayed = await replayDelivery(deps, { botId, eventId });
    if (replayed.outcome !== "replayed") throw refusalOfOne(replayed, botId, eventId);
    return { eventId, botId, state: "waiting", notBefore: replayed.notBefore };
  });

  /** Counts what would be sent again. Its `until` is the present moment, so that events earned later are excluded. */
  app.get("/bots/:botId/replay", { schema: replayOperations.count }, async (request) => {
    const { botId } = request.params;
    const range = { botId, ...request.query, until: new Date() };
    if (range.since > range.until) throw invalidField("since", "must not be in the future");
    const refusal = await replayRefusal(database, range);
    if (refusal) throw refusalOfMany(refusal, botId);
    return { ...range, ...(await countReplayable(database, range)) };
  });

  /** Replays one batch; repeat it with its `next` as `after` until that is null. */
  app.post("/bots/:botId/replay", { schema: replayOperations.replayMany }, async (request) => {
    const { botId } = request.params;
    const { after, ...range } = request.body;
    if (range.since > range.until) throw invalidField("since", "must not be after until");
    const replayed = await replayDeliveries(deps, { botId, ...range, after: after ?? undefined });
    if (replayed.outcome !== "replayed") throw refusalOfMany(replayed, botId);
    return { replayed: replayed.replayed, next: replayed.next };
  });
}

function refusalOfOne(
  refused: Exclude<ReplayDeliveryOutcome, { outcome: "replayed" }>,
  botId: string,
  eventId: string,
) {
  if (refused.outcome === "held") return held(refused.blockedReason, botId);
  return {
    "under-way": () =>
      conflict("UNDER_WAY", `${eventId} is being sent; see the outcome with: deliveries show ${eventId}`),
    test: () => invalid(`${eventId} is a test; make another with: endpoints test ${botId}`),
    "unknown-event": () => unknownEvent(eventId),
  }[refused.outcome]();
}

function refusalOfMany(refused: ReplayRefusal, botId: string) {
  if (refused.outcome === "held") return held(refused.blockedReason, botId);
  if (refused.outcome === "unknown-bot") return unknownBot(botId);
  return conflict(
    "AT_MOST_ONCE",
    `bot ${botId} has its webhooks sent at most once: its receiver may pay twice for a repeated event. Send single events again, with: deliveries replay <event-id>`,
  );
}

function held(blockedReason: BlockedReason, botId: string) {
  return conflict("HELD", `nothing is sent to bot ${botId} now: ${explainToOperator(blockedReason, botId)}`);
}

const enabling = z.strictObject({ skipTest: z.boolean().optional() }).meta({ examples: [{ skipTest: false }] });
const settings = z
  .strictObject({
    maxInFlight: z.int("must be from 1 to 40").min(1, "must be from 1 to 40").max(40, "must be from 1 to 40"),
  })
  .meta({ examples: [{ maxInFlight: 8 }] });
const testing = z
  .strictObject({ event: eventType.optional(), userId: telegramId.optional() })
  .meta({ examples: [{ event: "rewarded" }] });

const endpointOperations = {
  list: { operationId: "listEndpoints", description: "Lists the webhook endpoints with their health." },
  show: {
    operationId: "showEndpoint",
    description: "Returns a bot's webhook endpoint with its health.",
    params: ofBot,
  },
  limit: {
    operationId: "limitEndpoint",
    description: "Sets how many webhooks may be under way to an endpoint at once.",
    params: ofBot,
    body: settings,
    response: conflicts,
  },
  enable: {
    operationId: "enableEndpoint",
    description: "Enables an endpoint; a test webhook activates it, unless the test is skipped.",
    params: ofBot,
    body: enabling,
    response: conflicts,
  },
  disable: {
    operationId: "disableEndpoint",
    description: "Stops sending to an endpoint; its events are held.",
    params: ofBot,
    response: conflicts,
  },
  test: {
    operationId: "testEndpoint",
    description: "Sends a signed test webhook now, and returns how the endpoint answered.",
    params: ofBot,
    body: testing,
    response: conflicts,
  },
};

/** Webhook endpoints: their health, and the operator's actions on them. */
function endpointRoutes(scope: CheckedScope, deps: DeliveryOperatorDeps): void {
  const { database, endpointTests } = deps;

  async function shown(botId: string) {
    const [endpoint] = await listEndpoints(database, { botId });
    if (!endpoint) throw unknownBot(botId);
    return { asOf: new Date(), ...endpoint };
  }

  function refuse(outcome: "unknown-bot" | "no-endpoint", botId: string): never {
    if (outcome === "unknown-bot") throw unknownBot(botId);
    throw conflict("NO_ENDPOINT", explainToOperator("no-endpoint", botId));
  }

  scope.get("/endpoints", { schema: endpointOperations.list }, async () => ({
    asOf: new Date(),
    endpoints: await listEndpoints(database),
  }));

  scope.get("/endpoints/:botId", { schema: endpointOperations.show }, async ({ params }) => shown(params.botId));

  scope.patch("/endpoints/:botId", { schema: endpointOperations.limit }, async (request) => {
    const { botId } = request.params;
    const limited = await limitEndpoint(deps, { botId, ...request.body });
    return limited.outcome === "limited" ? shown(botId) : refuse(limited.outcome, botId);
  });

  scope.post("/endpoints/:botId/enable", { schema: endpointOperations.enable }, async (request) => {
    const { botId } = request.params;
    const { skipTest = false } = request.body;
    const enabled = await enableEndpoint(deps, { botId, skipTest });
    if (enabled.outcome === "enabled") return shown(botId);
    if (enabled.outcome !== "already-active") return refuse(enabled.outcome, botId);
    throw conflict("ENDPOINT_ACTIVE", `the endpoint of bot ${botId} is active already; see: endpoints show ${botId}`);
  });

  scope.post("/endpoints/:botId/disable", { schema: endpointOperations.disable }, async (request) => {
    const { botId } = request.params;
    const disabled = await disableEndpoint(database, { botId });
    if (disabled.outcome === "disabled") return shown(botId);
    if (disabled.outcome !== "already-disabled") return refuse(disabled.outcome, botId);
    throw conflict(
      "ENDPOINT_DISABLED",
      `there is nothing to do: ${explainToOperator(disabled.reason ?? "operator", botId)}`,
    );
  });

  scope.post("/endpoints/:botId/test", { schema: endpointOperations.test }, async (request) => {
    const { botId } = request.params;
    const tested = await testEndpoint(endpointTests, { botId, ...request.body });
    if (tested.outcome !== "tested") throw testRefusals[tested.outcome](botId);
    const { outcome: _, phases, ...told } = tested;
    return {
      botId,
      ...told,
      ...rounded(phases),
      advice: adviseOnAnswer({ ...tested, text: tested.answer }, "operator"),
    };
  });
}

function rounded(phases: Record<string, number | null>): Record<string, number | null> {
  const wholes = Object.entries(phases).map(([name, ms]) => [name, ms === null ? null : Math.round(ms)]);
  return Object.fromEntries(wholes);
}

const testRefusals = {
  "unknown-bot": unknownBot,
  "no-endpoint": (botId: string) => conflict("NO_ENDPOINT", explainToOperator("no-endpoint", botId)),
  "no-token": (botId: string) => conflict("NO_TOKEN", explainToOperator("no-token", botId)),
  "not-a-tester": (botId: string) =>
    invalid(`this user is not a tester of bot ${botId}; add them with: bots update ${botId} --tester <id>`),
  "not-the-testers-code": () => invalid("the code is not one of this bot and tester"),
  busy: (botId: string) =>
    conflict("TEST_UNDER_WAY", `a test of bot ${botId} is under way; try again in a few seconds`),
} satisfies Record<Exclude<EndpointTestOutcome["outcome"], "tested">, (botId: string) => Error>;
