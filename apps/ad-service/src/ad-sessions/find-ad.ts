import { statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";

/** What a viewer gets to see. A paused campaign's too: a view that began is honoured. */
export interface Ad {
  advertiser: string;
  callToAction: string | null;
  landingUrl: string | null;
  fileName: string;
  posterFileName: string | null;
  mediaType: string;
  durationMs: number;
  width: number;
  height: number;
}

const read = statement<Ad>(
  "ad-sessions.ad",
  `select coalesce(label, advertiser) as advertiser, landing_url as "landingUrl",
     coalesce(campaign_creatives.call_to_action, campaigns.call_to_action) as "callToAction",
     file_name as "fileName", poster_file_name as "posterFileName", media_type as "mediaType", duration_ms as "durationMs", width, height
   from campaigns join campaign_creatives using (campaign_id) join creatives using (creative_id)
   where campaign_id = $1 and creative_id = $2`,
);

export async function findAd(
  database: AdTransaction,
  { campaignId, creativeId }: { campaignId: string; creativeId: string },
): Promise<Ad> {
  const [ad] = await database.run(read, [campaignId, creativeId]);
  if (!ad) throw new Error(`campaign ${campaignId} has no creative ${creativeId}`);
  return ad;
}
