import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { creativeRoutes } from "@intermission/operator-api/creatives";
import { endpointRoutes } from "@intermission/operator-api/endpoints";
import { moneyRequestRoutes } from "@intermission/operator-api/money-requests";
import { clickRoutes, viewRoutes } from "@intermission/operator-api/reviews";
import { useQueries, useQuery } from "@tanstack/react-query";
import { useHeldPayments } from "../advertisers/use-held-payments.ts";
import { troubleOf } from "../bots/endpoint-trouble.ts";
import { answerOf } from "../operator/use-operator.ts";
import { useMay, usePerson, useRoleMay } from "../session/use-session.ts";

/** How many held ones are counted: beyond, “more than” is enough. */
const MAX_COUNTED = 100;

/** What may need attention, of what the person sees: each read by itself, so that one failure hides no other. */
export function useAttention() {
  const { advertiserId, botIds } = usePerson();
  const roleMay = useRoleMay();
  const may = useMay();
  const isAll = may("listEndpoints");
  const all = useQuery({
    ...answerOf(endpointRoutes.listEndpoints, { query: { trouble: true, limit: MAX_COUNTED } }),
    enabled: isAll,
    select: ({ endpoints }) => endpoints,
  });
  const own = useQueries({
    queries: isAll || !may("showEndpoint") ? [] : botIds.map((botId) => endpointQuery({ botId })),
    combine: (answers) => answers.flatMap(({ data }) => data ?? []),
  });
  const campaigns = useQuery({
    ...answerOf(campaignRoutes.countCampaigns, { query: { advertiser: advertiserId ?? undefined } }),
    enabled: may("countCampaigns"),
  });
  const held = { query: { state: "held", limit: MAX_COUNTED } } as const;
  const views = useQuery({ ...answerOf(viewRoutes.listViews, held), enabled: may("listViews") });
  const clicks = useQuery({ ...answerOf(clickRoutes.listClicks, held), enabled: may("listClicks") });
  const queue = useQuery({
    ...answerOf(creativeRoutes.readReviewQueue, { query: { limit: 1 } }),
    enabled: roleMay("approveCreative"),
  });
  const drafted = useQuery({
    ...answerOf(campaignRoutes.listCampaigns, { query: { review: "waiting", limit: 1 } }),
    enabled: roleMay("approveCampaign"),
  });
  const requests = useQuery({
    ...answerOf(moneyRequestRoutes.listMoneyRequests, { query: { state: "waiting", limit: 1 } }),
    enabled: roleMay("approveMoneyRequest"),
  });
  const payments = useHeldPayments();
  const inPhase = (phase: "running" | "spent" | "unfunded" | "ended") =>
    campaigns.data?.phases.find((one) => one.phase === phase) ?? { count: 0, name: "" };
  const queries = [all, campaigns, views, clicks, queue, drafted, requests, payments];
  return {
    endpoints: (isAll ? (all.data ?? []) : own).filter((endpoint) => troubleOf(endpoint) !== undefined),
    spent: inPhase("spent"),
    unfunded: inPhase("unfunded"),
    ended: inPhase("ended"),
    isNothingRunning: campaigns.data !== undefined && inPhase("running").count === 0 && advertiserId === null,
    heldViews: views.data && { count: views.data.views.length, isMore: views.data.next !== null },
    heldClicks: clicks.data && { count: clicks.data.clicks.length, isMore: clicks.data.next !== null },
    heldPayments: payments.data && { count: payments.data.payments.length, isMore: payments.data.next !== null },
    waitingCreatives: queue.data?.waiting ?? 0,
    waitingMoney: requests.data?.waiting ?? 0,
    waitingCampaigns: drafted.data?.total ?? 0,
    isLoading: queries.some(({ isLoading }) => isLoading),
    errors: queries.flatMap(({ error }) => error ?? []),
    readAt: Math.max(...queries.map(({ dataUpdatedAt }) => dataUpdatedAt)),
    refetch: () => Promise.all(queries.map(({ refetch, isEnabled }) => (isEnabled ? refetch() : undefined))),
  };
}

function endpointQuery({ botId }: { botId: string }) {
  return answerOf(endpointRoutes.showEndpoint, { params: { botId } });
}
