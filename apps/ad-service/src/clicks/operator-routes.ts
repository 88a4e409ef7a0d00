import { telegramId } from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { conflict, notFound } from "@intermission/server/refuse";
import { z } from "zod";
import { refundAnswer } from "../campaigns/refund-charge.ts";
import type { Deliveries } from "../deliveries/deliveries.ts";
import { type DecideClickOutcome, listClicks, refundClick, refuseClick, releaseClick } from "./review-clicks.ts";

const clicksQuery = z.object({
  botId: telegramId.optional(),
  state: z.enum(["held", "refused", "counted"]).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
});
const params = z.object({ clickId: z.string().min(1).max(64) });
const decided = {
  200: z.object({
    clickId: z.string(),
    state: z.enum(["counted", "refused"]),
    eventId: z.string().optional().describe("What it earned, if it was released."),
  }),
  ...refusals(409),
};
const refunded = {
  200: z.object({ clickId: z.string(), campaignId: z.string(), refundedMicros: z.number() }),
  ...refusals(409),
};
const operations = {
  list: {
    operationId: "listClicks",
    description: "Lists suspicious clicks of direct links, the latest first.",
    querystring: clicksQuery,
  },
  release: {
    operationId: "releaseClick",
    description: "Counts a held click: it earns and is charged.",
    params,
    response: decided,
  },
  refuse: {
    operationId: "refuseClick",
    description: "Refuses a held click: it earns nothing.",
    params,
    response: decided,
  },
  refund: {
    operationId: "refundClick",
    description: "Returns a click's charge to its campaign.",
    params,
    response: refunded,
  },
};

/** Suspicious clicks of direct links, the operator's decision about held ones, and refunds. */
export function clickOperatorRoutes(
  scope: CheckedScope,
  { database, deliveries, now }: { database: Database; deliveries: Deliveries; now: () => Date },
): void {
  scope.get("/clicks", { schema: operations.list }, async (request) => ({
    clicks: await listClicks(database, request.query),
  }));

  scope.post("/clicks/:clickId/release", { schema: operations.release }, async (request) => {
    const { clickId } = request.params;
    const released = await releaseClick(database, { clickId, now: now() });
    deliveries.wake();
    return answer(released, clickId);
  });

  scope.post("/clicks/:clickId/refuse", { schema: operations.refuse }, async (request) => {
    const { clickId } = request.params;
    return answer(await refuseClick(database, { clickId, now: now() }), clickId);
  });

  scope.post("/clicks/:clickId/refund", { schema: operations.refund }, async (request) => {
    const { clickId } = request.params;
    const refunded = await refundClick(database, { clickId, now: now() });
    if (refunded.outcome === "unknown-click") throw unknownClick(clickId);
    return { clickId, ...refundAnswer(refunded, `click ${clickId}`) };
  });
}

function answer(decided: DecideClickOutcome, clickId: string) {
  if (decided.outcome === "unknown-click") throw unknownClick(clickId);
  if (decided.outcome === "not-held") {
    throw conflict("NOT_HELD", `click ${clickId} is ${decided.state}: only a held one can be released or refused`);
  }
  if (decided.outcome === "refused") return { clickId, state: "refused" as const };
  return { clickId, state: "counted" as const, eventId: decided.eventId };
}

function unknownClick(clickId: string) {
  return notFound(`there is no click ${clickId}; see the suspicious ones with: clicks list`);
}
