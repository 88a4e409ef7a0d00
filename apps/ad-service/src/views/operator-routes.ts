import { randomBytes } from "node:crypto";
import { newEventId } from "@intermission/ad-core/code";
import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { listLimit } from "@intermission/server/parse-request";
import { conflict, notFound } from "@intermission/server/refuse";
import { z } from "zod";
import { requireBots } from "../bots/bots.ts";
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
  type DecideViewOutcome,
  listViews,
  matchingViews,
  refundView,
  refuseView,
  releaseView,
} from "./review-views.ts";
import { botOfSession } from "./session.ts";

const viewsQuery = z.object({
  ...reviewFilter.shape,
  state: z.enum(["held", "refused", "rewarded"]).optional(),
  limit: listLimit,
});
const params = z.object({ sessionId: z.string().min(1).max(64) });
const decided = {
  200: z.object({
    sessionId: z.string(),
    state: z.enum(["rewarded", "refused"]),
    eventId: z.string().optional().describe("What it earned, if it was released."),
  }),
  ...refusals(409),
};
const refunded = {
  200: z.object({ sessionId: z.string(), campaignId: z.string(), refundedMicros: z.number(), currency: z.string() }),
  ...refusals(409),
};
const operations = {
  list: { operationId: "listViews", description: "Lists suspicious views, the latest first.", querystring: viewsQuery },
  release: {
    operationId: "releaseView",
    description: "Pays a held view: it earns and is charged.",
    params,
    response: decided,
  },
  refuse: {
    operationId: "refuseView",
    description: "Refuses a held view: it earns nothing.",
    params,
    response: decided,
  },
  refund: {
    operationId: "refundView",
    description: "Returns a view's charge to its campaign.",
    params,
    response: refunded,
  },
};

const bulk = {
  release: { operationId: "releaseViews", description: "Pays the held views that match." },
  refuse: { operationId: "refuseViews", description: "Refuses the held views that match." },
  refund: { operationId: "refundViews", description: "Returns the charges of suspicious views that match." },
};

/** Suspicious views, and the operator's decision about held ones. */
export function viewOperatorRoutes(
  scope: CheckedScope,
  deps: { database: Database; deliveries: Deliveries; currency: string; now: () => Date },
): void {
  const { database, deliveries, now } = deps;
  const decisions = {
    release: async (id, eventId) =>
      (await releaseView(database, { ...id, eventId, now: now() })).outcome === "released",
    refuse: async (id) => (await refuseView(database, { ...id, now: now() })).outcome === "refused",
    refund: async (id) => (await refundView(database, { ...id, now: now() })).outcome === "refunded",
  } satisfies Record<BulkDecision, (id: ReturnType<typeof viewId>, eventId: string) => Promise<boolean>>;
  bulkReviewRoutes(scope, deps, {
    ...{ what: "views", filter: reviewFilter, operations: bulk, matching: matchingViews },
    async decide(decision, sessionId) {
      const id = viewId(sessionId);
      const eventId = newEventId(now().getTime(), randomBytes(10));
      if (!(await decisions[decision](id, eventId))) return undefined;
      return { ...id, ...(decision === "release" && { eventId }) };
    },
  });

  scope.get("/views", { schema: operations.list }, async ({ query }) => {
    requireFilter(query);
    await requireBots(database, [query.botId]);
    return { views: await listViews(database, query) };
  });

  scope.post("/views/:sessionId/release", { schema: operations.release }, async (request) => {
    const id = viewId(request.params.sessionId);
    const at = now();
    const eventId = newEventId(at.getTime(), randomBytes(10));
    const released = await releaseView(database, { ...id, eventId, now: at });
    deliveries.wake();
    if (released.outcome === "released") {
      request.log.info({ ...id, eventId: released.eventId, decision: "release" }, decidedByOperator);
    }
    return answer(released, id.sessionId);
  });

  scope.post("/views/:sessionId/refuse", { schema: operations.refuse }, async (request) => {
    const id = viewId(request.params.sessionId);
    const refused = await refuseView(database, { ...id, now: now() });
    if (refused.outcome === "refused") request.log.info({ ...id, decision: "refuse" }, decidedByOperator);
    return answer(refused, id.sessionId);
  });

  scope.post("/views/:sessionId/refund", { schema: operations.refund }, async (request) => {
    const id = viewId(request.params.sessionId);
    const refunded = await refundView(database, { ...id, now: now() });
    if (refunded.outcome === "unknown-view") throw unknownView(id.sessionId);
    if (refunded.outcome === "refunded") request.log.info({ ...id, decision: "refund" }, decidedByOperator);
    return { sessionId: id.sessionId, ...refundAnswer(refunded, `view ${id.sessionId}`), currency: deps.currency };
  });
}

function viewId(sessionId: string): { botId: string; sessionId: string } {
  const botId = botOfSession(sessionId);
  if (botId === undefined) throw unknownView(sessionId);
  return { botId, sessionId };
}

function answer(decided: DecideViewOutcome, sessionId: string) {
  if (decided.outcome === "unknown-view") throw unknownView(sessionId);
  if (decided.outcome === "not-held") {
    throw conflict("NOT_HELD", `view ${sessionId} is ${decided.state}: only a held one can be released or refused`);
  }
  if (decided.outcome === "refused") return { sessionId, state: "refused" as const };
  return { sessionId, state: "rewarded" as const, eventId: decided.eventId };
}

function unknownView(sessionId: string) {
  return notFound(`there is no view ${sessionId}; see the suspicious ones with: views list`);
}
