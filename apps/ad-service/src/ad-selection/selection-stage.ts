import { defaultSettings } from "../campaigns/campaign-settings.ts";
import type { Campaign } from "../campaigns/rows.ts";
import type { AdRequest } from "./ad-request.ts";
import type { CampaignState, Delivered } from "./campaign-state.ts";

export const botOfTest = {
  ...{ botId: "7000000001", category: "games", timeZone: "Europe/Berlin" },
  ...{ blockedCategories: ["casino"], blockedAdvertisers: ["Rival"] },
};

export function requestOf(user: AdRequest["user"] = {}): AdRequest {
  return { format: "rewarded", bot: botOfTest, user, seen: new Map() };
}

const none: Delivered = { views: 0, clicks: 0, spentMicros: 0 };
const madeAt = new Date("2026-01-01T00:00:00Z");

/** A campaign with one video that anybody may see, but for what is said. For tests and measurements. */
export function stateOf(
  campaignId: string,
  settings: Partial<Campaign> = {},
  today: Partial<Delivered> = {},
  { viewsInFlight = 0, earlier = none }: Partial<Pick<CampaignState, "viewsInFlight" | "earlier">> = {},
): CampaignState {
  const video = { creativeId: "cre_1", weight: 1, label: null, callToAction: null, isActive: true };
  const made = { createdAt: madeAt, updatedAt: madeAt };
  const campaign: Campaign = {
    ...defaultSettings,
    ...{ campaignId, name: campaignId, advertiser: "Acme", formats: ["rewarded"], status: "active" },
    ...{ creatives: [video], ...made, ...settings },
  };
  return { campaign, today: { ...none, ...today }, earlier, viewsInFlight };
}

/** Mulberry32: the same numbers for the same seed. */
export function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
