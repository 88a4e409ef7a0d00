import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { conflict, notFound } from "@intermission/server/refuse";
import { z } from "zod";
import {
  type BulkDecision,
  bulkReviewRoutes,
  decidedByOperator,
  requireFilter,
  reviewFilter,
} from "../campaigns/bulk-review.ts";
import { refundAnswer } from "../campaigns/refund-charge.ts";
import type { Deliveries } from "../deliveries/enqueue-webhook.ts";
import {
  type DecideClickOutcome,
  listClicks,
  matchingClicks,
  refundClick,
  refuseClick,
  releaseClick,
} from "./review-clicks.ts";

const eightHex = z
  .string()
  .regex(/^[0-9a-f]{8}$/, "must be 8 hex digits, as the list shows it")
  .optional();
const clickFilter = reviewFilter
  .extend({ address: eightHex, network: eightHex })
  .meta({ examples: [{ botId: "7000000001", suspicion: "crowded-network", network: "5f1c09aa" }] });
const clicksQuery = z.object({
  ...clickFilter.shape,
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
  200: z.object({ clickId: z.string(), campaignId: z.string(), refundedMicros: z.number(), currency: z.string() }),
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

const bulk = {
  release: { operationId: "releaseClicks", description: "Counts the held clicks that match." },
  refuse: { operationId: "refuseClicks", description: "Refuses the held clicks that match." },
  refund: { operationId: "refundClicks", description: "Returns the charges of suspicious clicks that match." },
};

/** Suspicious clicks of direct links, the operator's decision about held ones, and refunds. */
export function clickOperatorRoutes(
  scope: CheckedScope,
  deps: { database: Database; deliveries: Deliveries; currency: string; now: () => Date },
): void {
  const { database, deliveries, now } = deps;
  const decisions = {
    release: async (clickId) => (await releaseClick(database, { clickId, now: now() })).outcome === "released",
    refuse: async (clickId) => (await refuseClick(database, { clickId, now: now() })).outcome === "refused",
    refund: async (clickId) => (await refundClick(database, { clickId, now: now() })).outcome === "refunded",
  } satisfies Record<BulkDecision, (clickId: string) => Promise<boolean>>;
  bulkReviewRoutes(scope, deps, {
    ...{ what: "clicks", filter: clickFilter, operations: bulk, matching: matchingClicks },
    decide: async (decision, clickId) => ((await decisions[decision](clickId)) ? { clickId } : undefined),
  });

  scope.get("/clicks", { schema: operations.list }, async ({ query }) => {
    requireFilter(query);
    return { clicks: await listClicks(database, query) };
  });

  scope.post("/clicks/:clickId/release", { schema: operations.release }, async (request) => {
    const { clickId } = request.params;
    const released = await releaseClick(database, { clickId, now: now() });
    deliveries.wake();
    if (released.outcome === "released") {
      request.log.info({ clickId, eventId: released.eventId, decision: "release" }, decidedByOperator);
    }
    return answer(released, clickId);
  });

  scope.post("/clicks/:clickId/refuse", { schema: operations.refuse }, async (request) => {
    const { clickId } = request.params;
    const refused = await refuseClick(database, { clickId, now: now() });
    if (refused.outcome === "refused") request.log.info({ clickId, decision: "refuse" }, decidedByOperator);
    return answer(refused, clickId);
  });

  scope.post("/clicks/:clickId/refund", { schema: operations.refund }, async (request) => {
    const { clickId } = request.params;
    const refunded = await refundClick(database, { clickId, now: now() });
    if (refunded.outcome === "unknown-click") throw unknownClick(clickId);
    if (refunded.outcome === "refunded") request.log.info({ clickId, decision: "refund" }, decidedByOperator);
    return { clickId, ...refundAnswer(refunded, `click ${clickId}`), currency: deps.currency };
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
