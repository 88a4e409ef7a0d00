import { adviseOnAnswer, adviseOnTest } from "@intermission/ad-core/delivery-advice";
import { deliveryRoutes } from "@intermission/operator-api/deliveries";
import { endpointRoutes } from "@intermission/operator-api/endpoints";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { listPage } from "@intermission/postgres/keyset";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { conflict, invalid, invalidField } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { requireBots, unknownBot } from "../bots/bots.ts";
import type { BlockedReason } from "./blocked-reason.ts";
import { type EndpointTestOutcome, type EndpointTests, testEndpoint } from "./endpoint-tests.ts";
import { disableEndpoint, enableEndpoint, limitEndpoint, listEndpoints } from "./endpoints.ts";
import type { Deliveries } from "./enqueue-webhook.ts";
import { explainDelivery, explainToOperator } from "./explain-delivery.ts";
import { findBotOfEvent, listDeliveries, noDeliveryOf, showDelivery, unknownEvent } from "./read-deliveries.ts";
import {
  countReplayable,
  type ReplayDeliveryOutcome,
  type ReplayRefusal,
  replayDeliveries,
  replayDelivery,
  replayRefusal,
} from "./replay-deliveries.ts";

export interface DeliveryOperatorDeps {
  database: Database;
  deliveries: Deliveries;
  endpointTests: EndpointTests;
}

/** Deliveries and the endpoints that they go to, for the operator. Replays: one event by its id, or a bot's of a period. */
export function deliveryOperatorRoutes(scope: CheckedScope, deps: DeliveryOperatorDeps): void {
  const { database } = deps;
  endpointRoutesOf(scope, deps);
  serveOperatorRoutes(scope, deliveryRoutes, {
    async listDeliveries({ query }) {
      await requireBots(database, [query.botId]);
      const read = await listDeliveries(database, { ...query, limit: query.limit + 1 });
      const { rows: deliveries, next } = listPage(read, query.limit, ({ eventId }) => eventId);
      return { deliveries, next };
    },

    async showDelivery(request) {
      const { eventId } = request.params;
      const botId = await findBotOfEvent(database, eventId);
      if (botId === undefined) throw unknownEvent(eventId);
      const delivery = await showDelivery(database, { botId, eventId });
      if (!delivery) throw await noDeliveryOf(database, { botId, eventId });
      const last = delivery.log.at(-1);
      const advice = last && adviseOnAnswer({ ...last, text: last.responseText }, "operator");
      return { ...delivery, explanation: explainDelivery(delivery), advice };
    },

    async replayDelivery(request) {
      const { eventId } = request.params;
      const botId = await findBotOfEvent(database, eventId);
      if (botId === undefined) throw unknownEvent(eventId);
      const replayed = await replayDelivery(deps, { botId, eventId, author: authorOf(request.http) });
      if (replayed.outcome === "not-kept") throw await noDeliveryOf(database, { botId, eventId });
      if (replayed.outcome !== "replayed") throw refusalOfOne(replayed, botId, eventId);
      return { eventId, botId, state: "waiting" as const, notBefore: replayed.notBefore };
    },

    /** Counts what would be sent again. Its `until` is the present moment, so that events earned later are excluded. */
    async countReplayable(request) {
      const { botId } = request.params;
      const range = { botId, ...request.query, until: new Date() };
      if (range.since > range.until)
        throw invalidField("since", "must not be in the future", fieldFault("SINCE_FUTURE"));
      const refusal = await replayRefusal(database, range);
      if (refusal) throw refusalOfMany(refusal, botId);
      return { ...range, ...(await countReplayable(database, range)) };
    },

    /** Replays one batch; repeat it with its `next` as `after` until that is null. */
    async replayDeliveries(request) {
      const { botId } = request.params;
      const { after, ...range } = request.body;
      if (range.since > range.until)
        throw invalidField("since", "must not be after until", fieldFault("END_BEFORE_START"));
      const replayed = await replayDeliveries(deps, {
        botId,
        ...range,
        after: after ?? undefined,
        author: authorOf(request.http),
      });
      if (replayed.outcome !== "replayed") throw refusalOfMany(replayed, botId);
      return { replayed: replayed.replayed, next: replayed.next };
    },
  });
}

function refusalOfOne(
  refused: Exclude<ReplayDeliveryOutcome, { outcome: "replayed" | "not-kept" }>,
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
  return {
    "unknown-bot": () => unknownBot(botId),
    "at-most-once": () =>
      conflict(
        "AT_MOST_ONCE",
        `bot ${botId} has its webhooks sent at most once: its receiver may pay twice for a repeated event. Send single events again, with: deliveries replay <event-id>`,
      ),
  }[refused.outcome]();
}

function held(blockedReason: BlockedReason, botId: string) {
  return conflict("HELD", `nothing is sent to bot ${botId} now: ${explainToOperator(blockedReason, botId)}`);
}

/** Webhook endpoints: their health, and the operator's actions on them. */
function endpointRoutesOf(scope: CheckedScope, deps: DeliveryOperatorDeps): void {
  const { database, endpointTests } = deps;

  async function shown(botId: string) {
    const [endpoint] = (await listEndpoints(database, { bots: [botId], limit: 1 })).rows;
    if (!endpoint) throw unknownBot(botId);
    return { asOf: new Date(), ...endpoint };
  }

  function refuse(outcome: "unknown-bot" | "no-endpoint", botId: string): never {
    if (outcome === "unknown-bot") throw unknownBot(botId);
    throw conflict("NO_ENDPOINT", explainToOperator("no-endpoint", botId));
  }

  serveOperatorRoutes(scope, endpointRoutes, {
    async listEndpoints({ query }) {
      const { rows: endpoints, next } = await listEndpoints(database, query);
      return { asOf: new Date(), endpoints, next };
    },

    showEndpoint: async ({ params }) => shown(params.botId),

    async limitEndpoint(request) {
      const { botId } = request.params;
      const limited = await limitEndpoint(deps, { botId, ...request.body, author: authorOf(request.http) });
      return limited.outcome === "limited" ? shown(botId) : refuse(limited.outcome, botId);
    },

    async enableEndpoint(request) {
      const { botId } = request.params;
      const { skipTest = false } = request.body;
      const enabled = await enableEndpoint(deps, { botId, skipTest, author: authorOf(request.http) });
      if (enabled.outcome === "enabled") return shown(botId);
      if (enabled.outcome !== "already-active") return refuse(enabled.outcome, botId);
      throw conflict("ENDPOINT_ACTIVE", `the endpoint of bot ${botId} is active already; see: endpoints show ${botId}`);
    },

    async disableEndpoint(request) {
      const { botId } = request.params;
      const disabled = await disableEndpoint(database, { botId, author: authorOf(request.http) });
      if (disabled.outcome === "disabled") return shown(botId);
      if (disabled.outcome !== "already-disabled") return refuse(disabled.outcome, botId);
      throw conflict(
        "ENDPOINT_DISABLED",
        `there is nothing to do: ${explainToOperator(disabled.reason ?? "operator", botId)}`,
      );
    },

    async testEndpoint(request) {
      const { botId } = request.params;
      const tested = await testEndpoint(endpointTests, { botId, ...request.body, author: authorOf(request.http) });
      if (tested.outcome !== "tested") throw testRefusals[tested.outcome](botId);
      const { outcome: _, phases, ...result } = tested;
      return {
        botId,
        ...result,
        ...phases,
        advice: adviseOnTest({ ...tested, text: tested.answer }, "operator"),
      };
    },
  });
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
