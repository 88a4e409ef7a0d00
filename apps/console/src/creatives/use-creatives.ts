import { advertiserRoutes } from "@intermission/operator-api/advertisers";
import { creativeRoutes } from "@intermission/operator-api/creatives";
import { useQuery } from "@tanstack/react-query";
import { callOperator } from "../operator/call-operator.ts";
import { wholeListOf } from "../operator/use-operator.ts";
import { usePages } from "../operator/use-pages.ts";
import { useCampaigns } from "../session/use-campaigns.ts";
import { useMay, usePerson } from "../session/use-session.ts";
import type { CreativesSearch } from "./search.ts";

/** The creatives that the person sees and that match an address, the latest first. */
export function useCreatives({ advertiser, review, kind, find }: CreativesSearch) {
  const person = usePerson();
  const filter = { advertiser: person.advertiserId ?? advertiser, review, kind, find: find?.trim() || undefined };
  return usePages(
    ["creatives", filter],
    (after, signal) =>
      callOperator(creativeRoutes.listCreatives, { query: { ...filter, after, order: "newest" } }, signal),
    { keepsRows: true },
  );
}

/** The advertisers whose creatives the person sees: all of them, or the person's own. */
export function useAdvertisers(): readonly { advertiserId: string; name: string }[] {
  const { advertiserId, advertiser } = usePerson();
  const may = useMay();
  const all = useQuery({ ...wholeListOf(advertiserRoutes.listAdvertisers), enabled: may("listAdvertisers") });
  if (advertiserId !== null && advertiser !== null) return [{ advertiserId, name: advertiser }];
  return all.data?.advertisers ?? [];
}

/** The campaigns that show each creative, by its id; undefined while they are read. */
export function useCampaignsOfCreatives() {
  const { data } = useCampaigns({ archived: false });
  if (data === undefined) return undefined;
  return Map.groupBy(
    data.campaigns.flatMap(({ campaignId, name, creatives }) =>
      creatives.filter(({ isActive }) => isActive).map(({ creativeId }) => ({ creativeId, campaignId, name })),
    ),
    ({ creativeId }) => creativeId,
  );
}
