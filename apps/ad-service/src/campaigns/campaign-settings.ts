import { finePriceFieldFault, finePriceRule, isPriceTooFine } from "@intermission/operator-api/amounts";
import { type CampaignFormat, campaignFormats } from "@intermission/operator-api/campaign-words";
import {
  type CampaignSettings,
  campaignSettings,
  defaultSettings,
  settingsOfFormat,
} from "@intermission/operator-api/campaigns";
import type { FieldFault } from "@intermission/operator-api/field-faults";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { type LandingMacro, landingMacros } from "@intermission/operator-api/landing-macros";
import { storedNames } from "@intermission/operator-api/stored-names";

/** The columns of all settings but the advertiser, who is stored by its id: `campaigns.ts`. */
export const settingColumns = storedNames(campaignSettings.omit({ advertiser: true }).keyof().options);

/** What is wrong with a campaign, and which of its settings has to change. */
export interface CampaignFault {
  field: keyof CampaignSettings | "formats" | "creativeIds" | "newAdvertiser";
  message: string;
  fault: FieldFault;
}

/** The first conflict between a campaign's settings, as text for the operator; undefined if there is none. */
export function campaignFault(campaign: CampaignSettings & { formats: CampaignFormat[] }): CampaignFault | undefined {
  const { formats, landingUrl, callToAction, startsAt, endsAt, userCap, userCapSeconds } = campaign;
  if (formats.includes("direct_link") && landingUrl === null) {
    const message = "a direct_link campaign needs a landing URL";
    return { field: "landingUrl", message, fault: fieldFault("LINK_NEEDS_ADDRESS") };
  }
  if (formats.includes("task") && (campaign.taskChatId === null) === (campaign.taskStartBot === null)) {
    const message = "a task campaign needs either a channel to join or a bot to start";
    return { field: "taskChatId", message, fault: fieldFault("TASK_TARGET") };
  }
  // What is under way counts against a budget in another way: a task for days, a view for minutes.
  if (formats.includes("task") && formats.length > 1) {
    const message = "a task campaign has no other format: add a second campaign for videos or links";
    return { field: "formats", message, fault: fieldFault("TASK_ALONE") };
  }
  if (callToAction !== null && landingUrl === null) {
    const message = "a call to action needs a landing URL";
    return { field: "landingUrl", message, fault: fieldFault("CALL_TO_ACTION_NEEDS_ADDRESS") };
  }
  if (startsAt && endsAt && endsAt <= startsAt) {
    return { field: "endsAt", message: "a campaign must end after it starts", fault: fieldFault("END_BEFORE_START") };
  }
  if ((userCap === null) !== (userCapSeconds === null)) {
    const message = "a cap per user needs both a number of views and clicks and a time span";
    return { field: "userCap", message, fault: fieldFault("USER_CAP_HALF") };
  }
  return formatFault(campaign) ?? finePriceFault(campaign) ?? limitFault(campaign);
}

const formatFaults = {
  rewarded: {
    message: "is for videos, and this campaign has only direct links: it would never be charged or counted",
    fault: fieldFault("OF_VIDEOS_ONLY"),
  },
  direct_link: {
    message:
      "is for direct links, and this campaign has only videos: it would never be charged or counted (clicks on a video's button are free)",
    fault: fieldFault("OF_LINKS_ONLY"),
  },
  interstitial: {
    message: "is for interstitials, and this campaign has none: it would say nothing",
    fault: fieldFault("OF_INTERSTITIALS_ONLY"),
  },
  task: {
    message: "is for tasks, and this campaign has none: it would never be charged or counted",
    fault: fieldFault("OF_TASKS_ONLY"),
  },
} satisfies Record<CampaignFormat, Omit<CampaignFault, "field">>;

/** With the price or the cap of the other format, a campaign would run free or without a limit. */
function formatFault({ formats, ...settings }: CampaignSettings & { formats: CampaignFormat[] }) {
  const own = new Set<string>(formats.flatMap((format) => settingsOfFormat[format]));
  for (const format of campaignFormats) {
    const field = settingsOfFormat[format].find((name) => !own.has(name) && settings[name] !== defaultSettings[name]);
    if (field !== undefined) return { field, ...formatFaults[format] };
  }
  return undefined;
}

/** The campaign's spend is compared with its budget in doubles, where sums of finer prices would not be exact. */
function finePriceFault(settings: CampaignSettings): CampaignFault | undefined {
  const budget = Math.max(settings.totalBudgetMicros ?? 0, settings.dailyBudgetMicros ?? 0);
  const field = (["viewPriceMicros", "clickPriceMicros", "taskPriceMicros"] as const).find((name) =>
    isPriceTooFine(settings[name], budget),
  );
  return field && { field, message: finePriceRule, fault: finePriceFieldFault };
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
      return { field: daily, message: `must not be above the total (${totalFlag})`, fault: fieldFault("ABOVE_TOTAL") };
    }
  }
  return undefined;
}

export type LandingMacros = Readonly<Record<LandingMacro, string>>;

/** URL parsers write the braces of a path as %7B and %7D. */
const MACRO = new RegExp(`(?:\\{|%7B)(${landingMacros.join("|")})(?:\\}|%7D)`, "gi");

/** The landing page with its macros filled in, percent-encoded; never in scheme or host. */
export function landingAddress(landingUrl: string, macros: LandingMacros): string {
  const { origin } = new URL(landingUrl);
  const rest = landingUrl.slice(origin.length);
  if (!landingUrl.startsWith(origin)) throw new Error("a stored landing URL is not in its canonical form");
  return (
    origin +
    rest.replace(MACRO, (_macro, name: string) => encodeURIComponent(macros[name.toLowerCase() as keyof LandingMacros]))
  );
}
