import type { CampaignSettings } from "./campaign-settings.ts";
import type { CampaignFormat } from "./schema.ts";

/** What of a campaign's settings does not go together, for the operator to read; nothing if all is well. */
export function campaignFault(campaign: CampaignSettings & { formats: CampaignFormat[] }): string | undefined {
  const { formats, landingUrl, callToAction, startsAt, endsAt, userCap, userCapSeconds } = campaign;
  if (formats.includes("direct_link") && landingUrl === null) return "a direct_link campaign needs a landing URL";
  if (callToAction !== null && landingUrl === null) return "a call to action needs a landing URL";
  if (startsAt && endsAt && endsAt <= startsAt) return "a campaign must end after it starts";
  if ((userCap === null) !== (userCapSeconds === null)) {
    return "a cap per user needs both: how many views and clicks, and in which time";
  }
  return undefined;
}
