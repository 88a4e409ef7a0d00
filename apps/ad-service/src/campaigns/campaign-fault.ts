import type { CampaignSettings } from "./campaign-settings.ts";
import type { CampaignFormat } from "./schema.ts";

/** What is wrong with a campaign, and which of its settings has to change. */
export interface CampaignFault {
  field: keyof CampaignSettings | "creativeIds";
  message: string;
}

/** The first conflict between a campaign's settings, as text for the operator; undefined if there is none. */
export function campaignFault(campaign: CampaignSettings & { formats: CampaignFormat[] }): CampaignFault | undefined {
  const { formats, landingUrl, callToAction, startsAt, endsAt, userCap, userCapSeconds } = campaign;
  if (formats.includes("direct_link") && landingUrl === null) {
    return { field: "landingUrl", message: "a direct_link campaign needs a landing URL" };
  }
  if (callToAction !== null && landingUrl === null) {
    return { field: "landingUrl", message: "a call to action needs a landing URL" };
  }
  if (startsAt && endsAt && endsAt <= startsAt) {
    return { field: "endsAt", message: "a campaign must end after it starts" };
  }
  if ((userCap === null) !== (userCapSeconds === null)) {
    return { field: "userCap", message: "a cap per user needs both a number of views and clicks and a time span" };
  }
  return limitFault(campaign);
}

const limits = [
  { daily: "dailyBudgetMicros", total: "totalBudgetMicros", totalFlag: "--total-budget" },
  { daily: "dailyViewCap", total: "totalViewCap", totalFlag: "--total-view-cap" },
  { daily: "dailyClickCap", total: "totalClickCap", totalFlag: "--total-click-cap" },
] as const;

/** A daily limit above the total can never be reached, so one of them is a mistake that may cost money. */
function limitFault(settings: CampaignSettings): CampaignFault | undefined {
  for (const { daily, total, totalFlag } of limits) {
    const [ofDay, inAll] = [settings[daily], settings[total]];
    if (ofDay !== null && inAll !== null && ofDay > inAll) {
      return { field: daily, message: `must not be above the total (${totalFlag})` };
    }
  }
  return undefined;
}
