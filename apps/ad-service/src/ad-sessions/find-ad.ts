import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";

/** What a viewer gets to see. A paused campaign's too: a view that began is honoured. */
export interface Ad {
  advertiser: string;
  callToAction: string | null;
  landingUrl: string | null;
  fileName: string;
  mediaType: string;
  durationMs: number;
  width: number;
  height: number;
}

const read = statement<Ad>(
  "ad-sessions.ad",
  `select advertiser, call_to_action as "callToAction", landing_url as "landingUrl", file_name as "fileName",
     media_type as "mediaType", duration_ms as "durationMs", width, height
   from campaigns, creatives where campaigns.campaign_id = $1 and creatives.creative_id = $2`,
);

export async function findAd(
  database: AdTransaction,
  { campaignId, creativeId }: { campaignId: string; creativeId: string },
): Promise<Ad> {
  const [ad] = await database.run(read, [campaignId, creativeId]);
  if (!ad) throw new Error(`campaign ${campaignId} has no creative ${creativeId}`);
  return ad;
}
