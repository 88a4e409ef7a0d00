import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { useQuery } from "@tanstack/react-query";
import { callOperator } from "../operator/call-operator.ts";
import { answerOf } from "../operator/use-operator.ts";
import { SearchSelect } from "../ui/search-select.tsx";
import { MAX_OFFERED, type Offered } from "../ui/use-offered.ts";
import type { PickerProps } from "./bot-picker.tsx";
import { usePerson } from "./use-session.ts";

/** Chooses one of the campaigns that the person sees, archived ones too. */
export function CampaignPicker(props: PickerProps) {
  const { advertiserId } = usePerson();
  const read = async (find: string | undefined, signal: AbortSignal): Promise<Offered> => {
    const query = {
      find,
      archived: true,
      order: "newest",
      advertiser: advertiserId ?? undefined,
      limit: MAX_OFFERED,
    } as const;
    const { campaigns, next } = await callOperator(campaignRoutes.listCampaigns, { query }, signal);
    return {
      options: campaigns.map(({ campaignId, name }) => ({ value: campaignId, text: name })),
      isMore: next !== null,
    };
  };
  return <SearchSelect {...props} name={useCampaignName(props.value)} of="campaigns" read={read} />;
}

/** Undefined until it is read, and without a campaign. */
function useCampaignName(campaignId: string | undefined): string | undefined {
  const campaign = answerOf(campaignRoutes.showCampaign, { params: { campaignId: campaignId ?? "" } });
  return useQuery({ ...campaign, enabled: campaignId !== undefined, retry: false }).data?.name;
}

/** A campaign by its name, and by its id until that is read. */
export function CampaignName({ campaignId }: { campaignId: string }) {
  return useCampaignName(campaignId) ?? campaignId;
}
