import { randomBytes } from "node:crypto";
import { newEventId } from "@intermission/ad-core/code";
import type { BulkDecision } from "@intermission/operator-api/reviews";
import { viewRoutes } from "@intermission/operator-api/reviews";
import type { Author } from "@intermission/postgres/audit";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { conflict, notFound } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { requireBots } from "../bots/bots.ts";
import { refundAnswer } from "../campaigns/refund-charge.ts";
import type { Deliveries } from "../deliveries/enqueue-webhook.ts";
import { botOfView } from "../views/view-ids.ts";
import { bulkReview, decidedByOperator, requireFilter } from "./bulk-review.ts";
import {
  type DecideViewOutcome,
  listViews,
  matchingViews,
  refundView,
  refuseView,
  releaseView,
} from "./review-views.ts";

/** Suspicious views, and the operator's decision about held ones. */
export function viewOperatorRoutes(
  scope: CheckedScope,
  deps: { database: Database; deliveries: Deliveries; currency: string; now: () => Date },
): void {
  const { database, deliveries, now } = deps;
  const decisions = {
    release: async (of, eventId) =>
      (await releaseView(database, { ...of, eventId, now: now() })).outcome === "released",
    refuse: async (of) => (await refuseView(database, { ...of, now: now() })).outcome === "refused",
    refund: async (of) => (await refundView(database, { ...of, now: now() })).outcome === "refunded",
  } satisfies Record<
    BulkDecision,
    (of: ReturnType<typeof parseViewId> & { author: Author }, eventId: string) => Promise<boolean>
  >;
  const bulk = bulkReview(deps, {
    what: "views",
    matching: matchingViews,
    async decide(decision, { id: viewId, author }) {
      const id = parseViewId(viewId);
      const eventId = newEventId(now().getTime(), randomBytes(10));
      if (!(await decisions[decision]({ ...id, author }, eventId))) return undefined;
      return { ...logged(id), ...(decision === "release" && { eventId }) };
    },
  });

  serveOperatorRoutes(scope, viewRoutes, {
    async listViews({ query }) {
      requireFilter(query);
      await requireBots(database, [query.botId]);
      const { rows: views, next } = await listViews(database, query);
      return { views, next };
    },

    async releaseView(request) {
      const id = parseViewId(request.params.sessionId);
      const at = now();
      const eventId = newEventId(at.getTime(), randomBytes(10));
      const released = await releaseView(database, { ...id, eventId, author: authorOf(request.http), now: at });
      deliveries.wake();
      if (released.outcome === "released") {
        request.log.info({ ...logged(id), eventId: released.eventId, decision: "release" }, decidedByOperator);
      }
      return answer(released, id.viewId);
    },

    async refuseView(request) {
      const id = parseViewId(request.params.sessionId);
      const refused = await refuseView(database, { ...id, author: authorOf(request.http), now: now() });
      if (refused.outcome === "refused") request.log.info({ ...logged(id), decision: "refuse" }, decidedByOperator);
      return answer(refused, id.viewId);
    },

    async refundView(request) {
      const id = parseViewId(request.params.sessionId);
      const refunded = await refundView(database, { ...id, author: authorOf(request.http), now: now() });
      if (refunded.outcome === "unknown-view") throw unknownView(id.viewId);
      if (refunded.outcome === "refunded") request.log.info({ ...logged(id), decision: "refund" }, decidedByOperator);
      return { sessionId: id.viewId, ...refundAnswer(refunded, `view ${id.viewId}`), currency: deps.currency };
    },

    releaseViews: (request) => bulk("release", request),
    refuseViews: (request) => bulk("refuse", request),
    refundViews: (request) => bulk("refund", request),
  });
}

function parseViewId(viewId: string): { botId: string; viewId: string } {
  const botId = botOfView(viewId);
  if (botId === undefined) throw unknownView(viewId);
  return { botId, viewId };
}

/** As the log names a view: like the wire. */
function logged({ botId, viewId }: { botId: string; viewId: string }) {
  return { botId, sessionId: viewId };
}

function answer(decided: DecideViewOutcome, viewId: string) {
  if (decided.outcome === "unknown-view") throw unknownView(viewId);
  if (decided.outcome === "not-held") {
    throw conflict("NOT_HELD", `view ${viewId} is ${decided.state}: only a held one can be released or refused`, {
      state: decided.state,
    });
  }
  if (decided.outcome === "refused") return { sessionId: viewId, state: "refused" as const };
  return { sessionId: viewId, state: "rewarded" as const, eventId: decided.eventId };
}

function unknownView(viewId: string) {
  return notFound(`there is no view ${viewId}; see the suspicious ones with: views list`);
}
