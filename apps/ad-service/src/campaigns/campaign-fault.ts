import { checkLandingUrl } from "./check-landing-url.ts";
import type { CampaignFormat } from "./schema.ts";

/** What an operator says about a campaign. */
export interface CampaignDraft {
  name: string;
  /** Shown to the viewer as text: who pays for the ad. */
  advertiser: string;
  format: CampaignFormat;
  creativeId?: string | undefined;
  /** Where a direct link leads; on a video, where its call to action leads. */
  landingUrl?: string | undefined;
  /** The label of the button beside a video. */
  callToAction?: string | undefined;
  weight: number;
  /** What one completed view, or one click, costs the advertiser: millionths of the deployment's currency. */
  priceMicros: number;
}

/** What is wrong with a campaign, for the operator to read; nothing if all is well. */
export function campaignFault(draft: CampaignDraft): string | undefined {
  return textFault(draft) ?? numberFault(draft) ?? landingFault(draft);
}

function textFault({ name, advertiser, callToAction }: CampaignDraft): string | undefined {
  if (!hasLength(name, 128)) return "the name must have 1 to 128 characters";
  if (!hasLength(advertiser, 128)) return "the advertiser must have 1 to 128 characters";
  if (callToAction !== undefined && !hasLength(callToAction, 40))
    return "the call to action must have 1 to 40 characters";
  return undefined;
}

function numberFault({ weight, priceMicros }: CampaignDraft): string | undefined {
  if (!Number.isInteger(weight) || weight < 1 || weight > 1_000_000)
    return "the weight must be a whole number from 1 to 1000000";
  if (!Number.isSafeInteger(priceMicros) || priceMicros < 0)
    return "the price must be a whole number of micros, 0 or more";
  return undefined;
}

function landingFault({ format, creativeId, landingUrl, callToAction }: CampaignDraft): string | undefined {
  if (format === "rewarded" && creativeId === undefined) return "a rewarded campaign needs a video";
  if (format === "direct_link" && creativeId !== undefined)
    return "a direct_link campaign has a landing URL and no video";
  if (format === "direct_link" && landingUrl === undefined) return "a direct_link campaign needs a landing URL";
  if (callToAction !== undefined && landingUrl === undefined) return "a call to action needs a landing URL";
  if (landingUrl === undefined) return undefined;
  const checked = checkLandingUrl(landingUrl);
  return checked.outcome === "invalid" ? checked.message : undefined;
}

function hasLength(text: string, most: number): boolean {
  return text.trim().length > 0 && text.length <= most;
}
