import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { useWholeList } from "../operator/use-operator.ts";
import { usePerson } from "./use-session.ts";

/** The campaigns that the person sees, the latest first: all of them, or those of an advertiser's own. */
export function useCampaigns({ archived }: { archived: boolean }) {
  const { advertiserId } = usePerson();
  return useWholeList(campaignRoutes.listCampaigns, {
    query: { archived, order: "newest", advertiser: advertiserId ?? undefined },
  });
}
