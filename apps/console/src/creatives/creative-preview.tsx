import type { AdForPlayer } from "@intermission/ad-core/player-api";
import { type Campaign, campaignRoutes } from "@intermission/operator-api/campaigns";
import type { Creative } from "@intermission/operator-api/creatives";
import { mediaAddress } from "../operator/media-address.ts";
import { useAnswer } from "../operator/use-operator.ts";
import { useAdvertiserName } from "../session/advertiser-picker.tsx";
import { usePerson } from "../session/use-session.ts";
import { useWords } from "../words/word-table.ts";
import { PhonePreview } from "./phone-preview.tsx";
import { creativeWords } from "./words.ts";

/** A creative in the player, with the texts of the first campaign that shows it. */
export function CreativePreview({ creative }: { creative: Creative }) {
  const words = useWords(creativeWords);
  const { advertiserId } = usePerson();
  const { creativeId } = creative;
  const { data } = useAnswer(campaignRoutes.listCampaigns, {
    query: { creativeId, advertiser: advertiserId ?? undefined, order: "newest", limit: 1 },
  });
  const advertiser = useAdvertiserName(creative.advertiserId);
  const ad = adOf(creative, advertiser ?? words.advertiser, data?.campaigns[0]);
  return ad === undefined ? <p className="secondary">{words.noPreview}</p> : <PhonePreview ad={ad} />;
}

/** What of a campaign is shown beside its videos. */
type Beside = Pick<Campaign, "advertiser" | "landingUrl" | "callToAction" | "creatives">;

/**
 * A creative as the player gets it, in a campaign that shows it or without one. Undefined for a VAST tag, whose answer alone
 * has the video. The call to action leads to its page, and is not counted.
 */
function adOf(creative: Creative, advertiser: string, campaign: Beside | undefined): AdForPlayer | undefined {
  const { creativeId, fileName, url, mediaType, durationMs, width, height } = creative;
  if (mediaType === null || durationMs === null || width === null || height === null) return undefined;
  const media = fileName === null ? url : mediaAddress(fileName);
  if (media === null) return undefined;
  const shown = campaign?.creatives.find((one) => one.creativeId === creativeId);
  const landing = campaign?.landingUrl;
  // As the ad service labels it where nothing else does.
  const label = shown?.callToAction ?? campaign?.callToAction ?? (landing && new URL(landing).hostname.slice(0, 40));
  return {
    advertiser: shown?.label ?? campaign?.advertiser ?? advertiser,
    media_url: media,
    media_type: mediaType,
    duration_ms: durationMs,
    width,
    height,
    ...(creative.posterFileName !== null && { poster_url: mediaAddress(creative.posterFileName) }),
    marking: creative.marking ?? undefined,
    ...(creative.legalLine !== null && { legal_line: creative.legalLine }),
    lighter_media: creative.renditions.map((one) => ({ url: mediaAddress(one.fileName), media_type: one.mediaType })),
    captions: creative.captions.map((one) => ({ language: one.language, url: mediaAddress(one.fileName) })),
    ...(landing && label && { call_to_action: { url: landing, label } }),
  };
}
