import { randomBytes } from "node:crypto";
import type { EventType } from "@intermission/ad-core/client-api";
import { newEventId } from "@intermission/ad-core/code";
import { encodeWebhookEvent } from "@intermission/ad-core/webhook-event";
import type { AdDatabase } from "../ad-database.ts";
import { readBot } from "../bots/rows.ts";
import type { SecretBox } from "../bots/secret-box.ts";
import { signingTokens } from "../bots/signing-tokens.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { attemptDelivery } from "./attempt-delivery.ts";
import { beginTest } from "./begin-test.ts";
import type { Deliveries } from "./deliveries.ts";
import type { DeliveryLog } from "./delivery-log.ts";
import type { FinishedAttempt } from "./finish-deliveries.ts";
import { finishTest } from "./finish-test.ts";
import type { EndpointState } from "./schema.ts";
import { testDelaySeconds } from "./test-delay-seconds.ts";

export interface EndpointTestRequest {
  botId: string;
  event?: EventType | undefined;
  /** A listed tester of the bot; by default user "0", whom no receiver rewards. */
  userId?: string | undefined;
  /** For the automatic test of a pending endpoint: its event, once it has one, and how many tests were made before. */
  activation?: { eventId: string | null; tests: number } | undefined;
}

export type EndpointTestOutcome =
  | {
      outcome: "tested";
      eventId: string;
      isDelivered: boolean;
      status: number | null;
      errorClass: string | null;
      /** The endpoint's answer, or the error. */
      answer: string | null;
      phases: Pick<FinishedAttempt, "dnsMs" | "tcpMs" | "tlsMs" | "firstByteMs" | "totalMs">;
      endpointState: EndpointState | null;
    }
  | { outcome: "unknown-bot" | "no-endpoint" | "no-token" | "not-a-tester" | "busy" };

export interface EndpointTests {
  /** Sends one test event now, once, in any state of the endpoint. Resolves when the outcome is recorded. */
  testEndpoint(request: EndpointTestRequest): Promise<EndpointTestOutcome>;
  /** Aborts tests in progress. */
  stop(): void;
}

export interface EndpointTestDeps {
  database: AdDatabase;
  deliveries: Deliveries;
  secretBox: SecretBox;
  requests: Pick<GuardedRequests, "guardedRequest">;
  log: DeliveryLog;
}

/** Concurrent tests on this node, over all bots. */
const MOST_AT_ONCE = 32;

/** Tests of endpoints: one at a time for each bot. A pending endpoint that answers 2xx becomes active. */
export function openEndpointTests(deps: EndpointTestDeps): EndpointTests {
  const underWay = new Set<string>();
  const stopping = new AbortController();
  return {
    async testEndpoint(request) {
      if (underWay.has(request.botId) || underWay.size >= MOST_AT_ONCE) return { outcome: "busy" };
      underWay.add(request.botId);
      try {
        return await makeTest(deps, request, stopping.signal);
      } finally {
        underWay.delete(request.botId);
      }
    },
    stop: () => stopping.abort(new Error("stopping")),
  };
}

async function makeTest(
  deps: EndpointTestDeps,
  request: EndpointTestRequest,
  signal: AbortSignal,
): Promise<EndpointTestOutcome> {
  const { database } = deps;
  const { botId, event = "rewarded", userId = "0", activation } = request;
  const bot = await readBot(database, botId);
  if (!bot) return { outcome: "unknown-bot" };
  if (bot.webhookUrl === null) return { outcome: "no-endpoint" };
  if (userId !== "0" && !bot.testers.includes(userId)) return { outcome: "not-a-tester" };
  const now = new Date();
  const tokens = (await signingTokens(deps, { botIds: [botId], now })).get(botId);
  if (!tokens) return { outcome: "no-token" };

  const eventId = activation?.eventId ?? newEventId(now.getTime(), randomBytes(10));
  const body = encodeWebhookEvent({
    ...{ event, event_id: eventId, bot_id: botId, user_tg_id: userId, occurred_at: now.toISOString(), test: true },
  });
  const claim = await beginTest(database, {
    botId,
    eventId,
    event,
    userId,
    body,
    isActivation: activation !== undefined,
  });
  if (!claim) return { outcome: "busy" };
  const attempted = await attemptDelivery(
    { ...deps, tokensOf: async () => tokens, mayStart: () => true, signal },
    claim,
  );
  if (attempted.outcome === "not-made") throw new Error("a test could not be made");

  const { finished } = attempted;
  const isDelivered = finished.state === "delivered";
  const retrySeconds = testDelaySeconds(activation?.tests ?? 0, Math.random());
  const { endpointState, isActivated } = await finishTest(database, { ...finished, retrySeconds });
  if (isActivated) {
    deps.log.info({ botId }, "an endpoint answered its test and is active");
    deps.deliveries.wake();
  }
  // Thrown only after recording: an internal error must not leave the delivery in the state `sending`.
  if (finished.totalMs === null) throw new Error("the test could not be made because of an internal error");
  const { status, errorClass, responseText: answer, dnsMs, tcpMs, tlsMs, firstByteMs, totalMs } = finished;
  const phases = { dnsMs, tcpMs, tlsMs, firstByteMs, totalMs };
  return { outcome: "tested", eventId, isDelivered, status, errorClass, answer, phases, endpointState };
}
