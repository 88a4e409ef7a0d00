import { createHash, randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Campaign } from "@intermission/operator-api/campaigns";
import bs58 from "bs58";
import { advertiserKey } from "../advertisers/advertisers.ts";
import { defaultSettings } from "./campaign-settings.ts";
import type { CampaignDraft } from "./change-campaign.ts";

/** `requestId`: made by the caller, whose repeated request is about the same campaign. */
export function newCampaignId(requestId?: string): string {
  const bytes =
    requestId === undefined ? randomBytes(9) : createHash("sha256").update(requestId).digest().subarray(0, 12);
  return `cmp_${bs58.encode(bytes)}`;
}

/** Whether a campaign is as a draft would make it: not, once it was changed or if the draft is another one. */
export function isOfDraft(campaign: Campaign, { formats, creativeIds = [], advertiser, ...settings }: CampaignDraft) {
  const expected = { ...defaultSettings, ...settings };
  const shown = campaign.creatives.filter(({ isActive }) => isActive).map(({ creativeId }) => creativeId);
  return (
    (campaign.advertiserId === advertiser || advertiserKey(campaign.advertiser) === advertiserKey(advertiser)) &&
    isDeepStrictEqual([...campaign.formats].sort(), [...formats].sort()) &&
    isDeepStrictEqual(shown.sort(), [...creativeIds].sort()) &&
    Object.entries(expected).every(([name, value]) => isDeepStrictEqual(campaign[name as keyof Campaign], value))
  );
}
