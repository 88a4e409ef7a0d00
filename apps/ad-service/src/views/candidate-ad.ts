import { isCode } from "@intermission/ad-core/code";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { drawsOf } from "../ad-selection/choose-ad.ts";
import { languageOf, platformOf } from "../ad-selection/eligibility.ts";
import type { Bot } from "../bots/bots.ts";
import { describeDevice } from "../creatives/choose-rendition.ts";
import { type AdRows, findChosenAd, mediaAddress } from "./find-ad.ts";

/** The ad that an opening of a code will most likely show: the mini-app's page begins to load it. */
export interface CandidateAd {
  /** Its file below `/media/`. */
  fileName: string;
  url: string;
  posterUrl: string | undefined;
  width: number;
  height: number;
}

/**
 * Chooses as an opening of this code would, of campaigns in memory. The user is unknown here, so the opening may choose
 * another ad. Nothing is counted, stored or reserved, and the answer is the same for a code that does not exist.
 */
export async function findCandidateAd(
  { campaigns, ads, publicUrl }: { campaigns: CampaignSnapshot; ads: AdRows; publicUrl: string },
  {
    bot,
    code,
    headers,
    now,
  }: { bot: Bot; code: string; headers: Readonly<Record<string, string | string[] | undefined>>; now: Date },
): Promise<CandidateAd | undefined> {
  if (bot.isSuspended || !isCode(code)) return undefined;
  const agent = headers["user-agent"];
  const language = headers["accept-language"];
  const user = {
    language: languageOf(typeof language === "string" ? language : undefined),
    platform: platformOf(typeof agent === "string" ? agent : undefined),
    isPremium: false,
  };
  const request = { format: "rewarded" as const, bot, user, seen: new Map<string, Date[]>() };
  const choice = campaigns.choose(request, { now, random: drawsOf(code) });
  if (choice.outcome === "no-ad" || choice.creative === null) return undefined;
  const { campaignId } = choice.state.campaign;
  const found = await findChosenAd(
    ads,
    { campaignId, creativeId: choice.creative.creativeId },
    describeDevice(headers),
  );
  if (found.kind !== "video" || found.ad.fileName === null) return undefined;
  const { fileName, posterFileName, width, height } = found.ad;
  const posterUrl = posterFileName === null ? undefined : mediaAddress(publicUrl, posterFileName);
  return { fileName, url: mediaAddress(publicUrl, fileName), posterUrl, width, height };
}
