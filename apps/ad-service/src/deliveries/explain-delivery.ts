import type { EndReason, ShownDelivery } from "@intermission/operator-api/deliveries";
import type { DisabledReason } from "@intermission/operator-api/endpoints";
import type { BlockedReason } from "./blocked-reason.ts";

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
export const blockedForPublisher: Record<BlockedReason, string> = {
  "no-endpoint": "the bot has no webhook address; ask the operator of this service to set one",
  pending: `the bot's endpoint has not yet answered a test event with a 2xx status; ${testIt}`,
  operator: `the bot's endpoint was disabled by the operator of this service; ${askOperator}`,
  gone: `the bot's endpoint was disabled because it only answered 410 Gone; once it works again, ${askOperator}`,
  failing: `the bot's endpoint was disabled because it accepted nothing for five days; once it works again, ${askOperator}`,
  "no-token": "the bot has no token to sign with; ask the operator of this service for one",
};

/** Why a delivery is in its state, and its publisher's next step. */
export function explainToPublisher(delivery: ShownDelivery): string {
  const { state, eventId, blockedReason, notBefore, dueAt, endReason, isTest } = delivery;
  const again = `send it again with: POST /client/v1/events/${eventId}/redeliver`;
  if (state === "delivered") return "it was answered 2xx";
  if (state === "sending") return "an attempt is under way";
  if (blockedReason !== null && (state === "waiting" || state === "held")) return blockedForPublisher[blockedReason];
  if (state === "held") return "it was held, and is sent shortly";
  if (state === "waiting") {
    const isInBackoff = notBefore !== null && (dueAt === null || notBefore > dueAt);
    const at = (isInBackoff ? notBefore : dueAt)?.toISOString();
    if (isInBackoff) return `the bot's endpoint failed, so nothing is sent to it until ${at}`;
    return at === undefined ? "its next attempt is scheduled" : `its next attempt is due at ${at}`;
  }
  if (isTest) return `a test is sent once; ${testIt}`;
  if (state === "unknown") {
    return `it is unknown whether it arrived, and the bot's webhooks are sent at most once; if you do not have it, ${again}`;
  }
  return endReason === null ? again : `${endings[endReason]}; ${again}`;
}
