import { clickRoutes, viewRoutes } from "@intermission/operator-api/reviews";
import type { ClickSuspicion, ViewSuspicion } from "@intermission/operator-api/suspicions";
import { callOperator } from "../operator/call-operator.ts";
import { usePages } from "../operator/use-pages.ts";
import type { ReviewState, ReviewsSearch } from "./search.ts";

/** A suspicious view or click. */
export interface Reviewed {
  id: string;
  botId: string;
  userId: string;
  campaignId: string | null;
  state: ReviewState;
  suspicions: readonly (ViewSuspicion | ClickSuspicion)[];
  at: Date | null;
  decidedAt: Date | null;
  refundedAt: Date | null;
}

/** The filter of an address as the routes have it. */
export function filterOf({ bot, user, campaign, suspicion }: ReviewsSearch) {
  return { botId: bot, userId: user, campaignId: campaign, suspicion };
}

const viewStates = { held: "held", refused: "refused", paid: "rewarded" } as const;
const clickStates = { held: "held", refused: "refused", paid: "counted" } as const;

/** The suspicious views or clicks of an address, the latest first. */
export function useReviews(search: ReviewsSearch) {
  const state = search.state ?? "held";
  const filter = filterOf(search);
  const key = ["reviews", search.of ?? "views", state, filter];
  return usePages(key, async (after, signal): Promise<{ rows: Reviewed[]; next: string | null }> => {
    if (search.of === "clicks") {
      const query = { ...filter, state: clickStates[state], after };
      const { clicks, next } = await callOperator(clickRoutes.listClicks, { query }, signal);
      return { rows: clicks.map((click) => ({ ...click, id: click.clickId, at: click.occurredAt, state })), next };
    }
    const query = { ...filter, state: viewStates[state], after };
    const { views, next } = await callOperator(viewRoutes.listViews, { query }, signal);
    return { rows: views.map((view) => ({ ...view, id: view.sessionId, at: view.closedAt, state })), next };
  });
}
