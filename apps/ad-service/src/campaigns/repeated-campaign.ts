import { createHash, randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { advertiserKey } from "@intermission/operator-api/advertisers";
import { type Campaign, defaultSettings } from "@intermission/operator-api/campaigns";
import bs58 from "bs58";
import type { CampaignDraft } from "./change-campaign.ts";

/** With the same `idempotencyKey` of the caller, the same id. */
export function newCampaignId(idempotencyKey?: string): string {
  const bytes =
    idempotencyKey === undefined
      ? randomBytes(9)
      : createHash("sha256").update(idempotencyKey).digest().subarray(0, 12);
  return `cmp_${bs58.encode(bytes)}`;
}

/** Whether the campaign still equals what this draft would create. */
export function isOfDraft(
  campaign: Campaign,
  { formats, creativeIds = [], advertiser, newAdvertiser: _, ...settings }: CampaignDraft,
) {
  const expected = { ...defaultSettings, ...settings };
  const shown = campaign.creatives.filter(({ isActive }) => isActive).map(({ creativeId }) => creativeId);
  return (
    (campaign.advertiserId === advertiser || advertiserKey(campaign.advertiser) === advertiserKey(advertiser)) &&
    isDeepStrictEqual([...campaign.formats].sort(), [...formats].sort()) &&
    isDeepStrictEqual(shown.sort(), [...creativeIds].sort()) &&
    Object.entries(expected).every(([name, value]) => isDeepStrictEqual(campaign[name as keyof Campaign], value))
  );
}
