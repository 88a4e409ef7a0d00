import type { BulkDecision } from "@intermission/operator-api/reviews";
import { clickRoutes } from "@intermission/operator-api/reviews";
import type { Author } from "@intermission/postgres/audit";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { conflict, notFound } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { refundAnswer } from "../campaigns/refund-charge.ts";
import type { Deliveries } from "../deliveries/enqueue-webhook.ts";
import { bulkReview, decidedByOperator, requireFilter } from "./bulk-review.ts";
import { listClicks, matchingClicks } from "./list-clicks.ts";
import {
  type DecideClickOutcome,
  type ReleaseClickDeps,
  refundClick,
  refuseClick,
  releaseClick,
} from "./review-clicks.ts";

/** Suspicious clicks of direct links, the operator's decision about held ones, and refunds. */
export function clickOperatorRoutes(
  scope: CheckedScope,
  deps: ReleaseClickDeps & { deliveries: Deliveries; currency: string; now: () => Date },
): void {
  const { database, deliveries, now } = deps;
  const decisions = {
    release: async (of) => (await releaseClick(deps, { ...of, now: now() })).outcome === "released",
    refuse: async (of) => (await refuseClick(database, { ...of, now: now() })).outcome === "refused",
    refund: async (of) => (await refundClick(database, { ...of, now: now() })).outcome === "refunded",
  } satisfies Record<BulkDecision, (of: { clickId: string; author: Author }) => Promise<boolean>>;
  const bulk = bulkReview(deps, {
    what: "clicks",
    matching: matchingClicks,
    decide: async (decision, { id: clickId, author }) =>
      (await decisions[decision]({ clickId, author })) ? { clickId } : undefined,
  });

  serveOperatorRoutes(scope, clickRoutes, {
    async listClicks({ query }) {
      requireFilter(query);
      const { rows: clicks, next } = await listClicks(database, query);
      return { clicks, next };
    },

    async releaseClick(request) {
      const { clickId } = request.params;
      const released = await releaseClick(deps, { clickId, author: authorOf(request.http), now: now() });
      deliveries.wake();
      if (released.outcome === "released") {
        request.log.info({ clickId, eventId: released.eventId, decision: "release" }, decidedByOperator);
      }
      return answer(released, clickId);
    },

    async refuseClick(request) {
      const { clickId } = request.params;
      const refused = await refuseClick(database, { clickId, author: authorOf(request.http), now: now() });
      if (refused.outcome === "refused") request.log.info({ clickId, decision: "refuse" }, decidedByOperator);
      return answer(refused, clickId);
    },

    async refundClick(request) {
      const { clickId } = request.params;
      const refunded = await refundClick(database, { clickId, author: authorOf(request.http), now: now() });
      if (refunded.outcome === "unknown-click") throw unknownClick(clickId);
      if (refunded.outcome === "refunded") request.log.info({ clickId, decision: "refund" }, decidedByOperator);
      return { clickId, ...refundAnswer(refunded, `click ${clickId}`), currency: deps.currency };
    },

    releaseClicks: (request) => bulk("release", request),
    refuseClicks: (request) => bulk("refuse", request),
    refundClicks: (request) => bulk("refund", request),
  });
}

function answer(decided: DecideClickOutcome, clickId: string) {
  if (decided.outcome === "unknown-click") throw unknownClick(clickId);
  if (decided.outcome === "not-held") {
    throw conflict("NOT_HELD", `click ${clickId} is ${decided.state}: only a held one can be released or refused`, {
      state: decided.state,
    });
  }
  if (decided.outcome === "refused") return { clickId, state: "refused" as const };
  return { clickId, state: "counted" as const, eventId: decided.eventId };
}

function unknownClick(clickId: string) {
  return notFound(`there is no click ${clickId}; see the suspicious ones with: clicks list`);
}
