import { eventType, telegramId } from "@intermission/ad-core/client-api";
import { parseRequest } from "@intermission/server/parse-request";
import { conflict, invalid } from "@intermission/server/refuse";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdDatabase } from "../ad-database.ts";
import { unknownBot } from "../bots/require-bots.ts";
import { adviseOnAnswer } from "./advise-on-answer.ts";
import type { Deliveries } from "./deliveries.ts";
import { disableEndpoint } from "./disable-endpoint.ts";
import { enableEndpoint } from "./enable-endpoint.ts";
import { explainBlockedReason } from "./explain-blocked-reason.ts";
import { limitEndpoint } from "./limit-endpoint.ts";
import { listEndpoints } from "./list-endpoints.ts";
import type { EndpointTestOutcome, EndpointTests } from "./test-endpoint.ts";

export interface EndpointOperatorDeps {
  database: AdDatabase;
  deliveries: Deliveries;
  endpointTests: Pick<EndpointTests, "testEndpoint">;
}

const ofBot = z.object({ botId: telegramId });
const enabling = z.strictObject({ skipTest: z.boolean().optional() });
const settings = z.strictObject({
  maxInFlight: z.int("must be from 1 to 40").min(1, "must be from 1 to 40").max(40, "must be from 1 to 40"),
});
const testing = z.strictObject({ event: eventType.optional(), userId: telegramId.optional() });

/** Webhook endpoints: their health, and the operator's actions on them. */
export function endpointOperatorRoutes(scope: FastifyInstance, deps: EndpointOperatorDeps): void {
  const { database, endpointTests } = deps;

  async function shown(botId: string) {
    const [endpoint] = await listEndpoints(database, { botId });
    if (!endpoint) throw unknownBot(botId);
    return { asOf: new Date(), ...endpoint };
  }

  function refuse(outcome: "unknown-bot" | "no-endpoint", botId: string): never {
    if (outcome === "unknown-bot") throw unknownBot(botId);
    throw conflict("NO_ENDPOINT", explainBlockedReason("no-endpoint", botId));
  }

  scope.get("/endpoints", async () => ({ asOf: new Date(), endpoints: await listEndpoints(database) }));

  scope.get("/endpoints/:botId", async (request) => shown(parseRequest(ofBot, request.params).botId));

  scope.patch("/endpoints/:botId", async (request) => {
    const { botId } = parseRequest(ofBot, request.params);
    const limited = await limitEndpoint(deps, { botId, ...parseRequest(settings, request.body) });
    return limited.outcome === "limited" ? shown(botId) : refuse(limited.outcome, botId);
  });

  scope.post("/endpoints/:botId/enable", async (request) => {
    const { botId } = parseRequest(ofBot, request.params);
    const { skipTest = false } = parseRequest(enabling, request.body);
    const enabled = await enableEndpoint(deps, { botId, skipTest });
    if (enabled.outcome === "enabled") return shown(botId);
    if (enabled.outcome !== "already-active") return refuse(enabled.outcome, botId);
    throw conflict("ENDPOINT_ACTIVE", `the endpoint of bot ${botId} is active already; see: endpoints show ${botId}`);
  });

  scope.post("/endpoints/:botId/disable", async (request) => {
    const { botId } = parseRequest(ofBot, request.params);
    const disabled = await disableEndpoint(database, { botId });
    if (disabled.outcome === "disabled") return shown(botId);
    if (disabled.outcome !== "already-disabled") return refuse(disabled.outcome, botId);
    throw conflict(
      "ENDPOINT_DISABLED",
      `there is nothing to do: ${explainBlockedReason(disabled.reason ?? "operator", botId)}`,
    );
  });

  scope.post("/endpoints/:botId/test", async (request) => {
    const { botId } = parseRequest(ofBot, request.params);
    const tested = await endpointTests.testEndpoint({ botId, ...parseRequest(testing, request.body) });
    if (tested.outcome !== "tested") throw testRefusals[tested.outcome](botId);
    const { outcome: _, phases, ...told } = tested;
    return { botId, ...told, ...rounded(phases), advice: adviseOnAnswer(tested) };
  });
}

function rounded(phases: Record<string, number | null>): Record<string, number | null> {
  const wholes = Object.entries(phases).map(([name, ms]) => [name, ms === null ? null : Math.round(ms)]);
  return Object.fromEntries(wholes);
}

const testRefusals = {
  "unknown-bot": unknownBot,
  "no-endpoint": (botId: string) => conflict("NO_ENDPOINT", explainBlockedReason("no-endpoint", botId)),
  "no-token": (botId: string) => conflict("NO_TOKEN", explainBlockedReason("no-token", botId)),
  "not-a-tester": (botId: string) =>
    invalid(`this user is not a tester of bot ${botId}; add them with: bots update ${botId} --tester <id>`),
  busy: (botId: string) =>
    conflict("TEST_UNDER_WAY", `a test of bot ${botId} is under way; try again in a few seconds`),
} satisfies Record<Exclude<EndpointTestOutcome["outcome"], "tested">, (botId: string) => Error>;
