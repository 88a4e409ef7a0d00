import { explainBlockedReason } from "./explain-blocked-reason.ts";
import type { EndReason } from "./schema.ts";
import type { ShownDelivery } from "./show-delivery.ts";

/** Why a delivery is in its state, and the operator's next step. */
export function explainDelivery(delivery: ShownDelivery): string {
  const { state, botId, eventId, blockedReason, endReason, isTest } = delivery;
  const again = `send it again with: deliveries replay ${eventId}`;
  if (state === "delivered") return "it was answered 2xx";
  if (state === "sending") return "an attempt is under way";
  if (state === "waiting") return explainWaiting(delivery);
  if (state === "held") {
    return blockedReason === null ? "it was held, and is sent shortly" : explainBlockedReason(blockedReason, botId);
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
  if (blockedReason !== null) return explainBlockedReason(blockedReason, botId);
  if (notBefore !== null && (dueAt === null || notBefore > dueAt)) {
    return `its endpoint failed, and is in backoff until ${notBefore.toISOString()}; see: endpoints show ${botId}`;
  }
  if (resumeState !== null) return `it is a replay; if that fails, its state is ${resumeState} again`;
  return "its next attempt is scheduled";
}
