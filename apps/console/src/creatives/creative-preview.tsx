import type { Creative } from "@intermission/operator-api/creatives";
import { useCampaigns } from "../campaigns/use-campaigns.ts";
import { useWords } from "../words/word-table.ts";
import { adOf } from "./ad-of-creative.ts";
import { PhonePreview } from "./phone-preview.tsx";
import { useAdvertisers } from "./use-creatives.ts";
import { creativeWords } from "./words.ts";

/** A creative in the player, with the texts of the first campaign that shows it. */
export function CreativePreview({ creative }: { creative: Creative }) {
  const words = useWords(creativeWords);
  const { data } = useCampaigns({ archived: false });
  const advertiser = useAdvertisers().find(({ advertiserId }) => advertiserId === creative.advertiserId);
  const campaign = data?.campaigns.find(({ creatives }) =>
    creatives.some((one) => one.creativeId === creative.creativeId && one.isActive),
  );
  const ad = adOf(creative, advertiser?.name ?? words.advertiser, campaign);
  return ad === undefined ? <p className="secondary">{words.noPreview}</p> : <PhonePreview ad={ad} />;
}
