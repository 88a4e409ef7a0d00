import { isCode } from "@intermission/ad-core/code";
import type { ShownReason } from "@intermission/ad-core/player-api";
import type { Bot } from "@intermission/operator-api/bots";
import type { Targeting } from "@intermission/operator-api/campaigns";
import type { Captions, Rendition } from "@intermission/operator-api/creatives";
import { type Database, statement } from "@intermission/postgres/open-database";
import { type BriefCache, briefCache } from "@intermission/server/brief-cache";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { type Choice, chooseAd, drawsOf } from "../ad-selection/choose-ad.ts";
import { languageOf, platformOf } from "../ad-selection/eligibility.ts";
import { canPlay, chooseRendition, type Device, describeDevice, lighterThan } from "../creatives/choose-rendition.ts";
import type { CreativeKind } from "../creatives/creatives.ts";
import { legalNameOf, markedName, markingOf } from "../creatives/marking.ts";
import { mediaAddress } from "../creatives/media-storage.ts";
import type { AdVerification, VastAd } from "../vast/vast-ad.ts";
import { shownReasons } from "./shown-reasons.ts";

/** What a viewer is shown. A paused campaign's ad too: a view that has begun can be finished. */
export interface Ad {
  advertiser: string;
  /** Of a network's ad, as its ad server calls it. */
  title?: string | null;
  legalLine: string | null;
  /** The marking that a law requires, with its identifier; null: none. */
  marking: string | null;
  erid: string | null;
  shownBecause: readonly ShownReason[];
  /** Null: no button leads to the landing page. Empty: the player labels it, in the viewer's language. */
  callToAction: string | null;
  landingUrl: string | null;
  /** Relative to `/media/`; null if the video is at `mediaUrl`. */
  fileName: string | null;
  mediaUrl: string | null;
  posterFileName: string | null;
  mediaType: string;
  durationMs: number;
  width: number;
  height: number;
  /** Smaller files of the same video, the largest first. */
  lighter: readonly Pick<Rendition, "fileName" | "mediaType">[];
  captions: readonly Captions[];
  verifications: readonly AdVerification[];
  endCard?: EndCard;
}

/** A picture for the end card, instead of the poster. */
interface EndCard {
  imageUrl: string;
  width: number;
  height: number;
  callToAction: string | null;
  /** Of the picture alone; null if the ad's call to action stands beside it. */
  landingUrl: string | null;
}

/** For a VAST tag, the ad is known only after unwrapping. */
type AdRow = Pick<
  Ad,
  "advertiser" | "legalLine" | "erid" | "callToAction" | "landingUrl" | "fileName" | "posterFileName"
> & {
  kind: CreativeKind;
  label: string | null;
  legalName: string | null;
  targeting: Targeting;
  url: string | null;
  mediaType: string | null;
  durationMs: number | null;
  width: number | null;
  height: number | null;
  byteLength: number | null;
  renditions: Rendition[];
  captions: Captions[];
  framesBySecond: number[] | null;
};

const read = statement<AdRow>(
  "views.ad",
  `select advertisers.name as advertiser, label, legal_line as "legalLine", erid,
     ${legalNameOf("campaigns.advertiser_id")} as "legalName", targeting, kind, url, landing_url as "landingUrl",
     coalesce(campaign_creatives.call_to_action, campaigns.call_to_action) as "callToAction",
     file_name as "fileName", poster_file_name as "posterFileName", media_type as "mediaType", duration_ms as "durationMs", width, height,
     byte_length as "byteLength", renditions, captions, frames_by_second as "framesBySecond"
   from campaigns join advertisers using (advertiser_id) join campaign_creatives using (campaign_id)
     join creatives using (creative_id)
   where campaign_id = $1 and creative_id = $2`,
);

interface Chosen {
  campaignId: string;
  creativeId: string;
}

/** Campaigns with their creatives, cached for at most a second, so that openings of one ad share a query. */
export type AdRows = BriefCache<AdRow, Chosen>;

export function adRows(database: Database): AdRows {
  return briefCache({
    load: async ({ campaignId, creativeId }) => (await database.run(read, [campaignId, creativeId]))[0],
    textOf: ({ campaignId, creativeId }) => `${campaignId} ${creativeId}`,
    maxAgeMs: 1000,
    maxEntries: 10_000,
  });
}

/** The chosen ad, or for a VAST tag its address. */
export async function findChosenAd(
  rows: AdRows,
  { campaignId, creativeId }: Chosen,
  device?: Device,
): Promise<{ kind: "video"; ad: Ad; row: AdRow } | { kind: "vast"; url: string; row: AdRow }> {
  const row = await rows.get({ campaignId, creativeId });
  if (!row) throw new Error(`campaign ${campaignId} has no creative ${creativeId}`);
  if (row.kind === "vast" && row.url !== null) return { kind: "vast", url: row.url, row };
  return { kind: "video", ad: videoAdOf(row, creativeId, device), row };
}

/** The file that suits the device. All renditions have the same duration, so watched ranges count for any of them. */
function videoAdOf(row: AdRow, creativeId: string, device: Device | undefined): Ad {
  const { fileName, mediaType, durationMs, width, height, byteLength, url: mediaUrl, label, renditions } = row;
  const shownBecause = shownReasons(row.targeting);
  if (mediaType === null || durationMs === null || width === null || height === null)
    throw new Error(`creative ${creativeId} was never inspected`);
  const shared = {
    ...row,
    marking: markingOf(row.erid, markedName(row)),
    advertiser: label ?? row.advertiser,
    shownBecause,
    mediaUrl,
    durationMs,
    verifications: [],
  };
  const original = { fileName, mediaType, width, height };
  if (!device || fileName === null || byteLength === null) return { ...shared, ...original, lighter: [] };
  const files = [{ fileName, mediaType, width, height, byteLength }, ...renditions]
    .filter((file) => canPlay(device, file.mediaType))
    .map((file) => ({ ...file, bitrate: (file.byteLength * 8) / durationMs }));
  const preloaded = files.find((file) => file.fileName === device.preloaded);
  const chosen = preloaded ?? chooseRendition(files, device);
  return { ...shared, ...(chosen ?? original), lighter: chosen ? lighterThan(chosen, files) : [] };
}

/** The ad of a view; without a device, with the video as it was uploaded. */
export async function findAd(
  rows: AdRows,
  view: Chosen & { viewId: string },
  { vastAd, device }: { vastAd: VastAd | undefined; device?: Device },
): Promise<Ad> {
  const chosen = await findChosenAd(rows, view, device);
  if (chosen.kind === "video") return chosen.ad;
  if (!vastAd) throw new Error(`view ${view.viewId} has no VAST ad`);
  return vastAdOf(chosen.row, vastAd);
}

/** The campaign's advertiser name takes precedence over the tag's; the tag's click-through address over the campaign's. */
function vastAdOf(row: AdRow, vast: VastAd): Ad {
  const { mediaUrl, mediaType, durationMs, width, height, verifications, clickThrough, companion } = vast;
  const advertiser = row.label ?? vast.advertiser ?? row.advertiser;
  return {
    advertiser,
    title: vast.title,
    legalLine: row.legalLine,
    marking: markingOf(row.erid, markedName({ ...row, label: row.label ?? vast.advertiser ?? null })),
    erid: row.erid,
    shownBecause: ["network", ...shownReasons(row.targeting)],
    callToAction: row.callToAction ?? "",
    landingUrl: clickThrough ?? row.landingUrl,
    fileName: null,
    posterFileName: null,
    mediaUrl,
    mediaType,
    durationMs,
    width,
    height,
    lighter: [],
    captions: [],
    verifications,
    ...(companion && {
      endCard: {
        imageUrl: companion.imageUrl,
        width: companion.width,
        height: companion.height,
        callToAction: row.callToAction ?? "",
        landingUrl: companion.clickThrough,
      },
    }),
  };
}

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
  const choice = chooseAd(campaigns.index, request, { now, random: drawsOf(code) });
  return choice.outcome === "no-ad" ? undefined : candidateOf({ ads, publicUrl }, choice, describeDevice(headers));
}

export const mediaOf = ({ url, posterUrl }: CandidateAd) => ({ url, ...(posterUrl && { poster_url: posterUrl }) });

/** The file that the page may load before the ad is opened; undefined for an ad of another server. */
export async function candidateOf(
  { ads, publicUrl }: { ads: AdRows; publicUrl: string },
  choice: Pick<Extract<Choice, { outcome: "chosen" }>, "state" | "creative"> | null,
  device: Device,
): Promise<CandidateAd | undefined> {
  if (choice === null || choice.creative === null) return undefined;
  const { state, creative } = choice;
  const found = await findChosenAd(
    ads,
    { campaignId: state.campaign.campaignId, creativeId: creative.creativeId },
    device,
  );
  if (found.kind !== "video" || found.ad.fileName === null) return undefined;
  const { fileName, posterFileName, width, height } = found.ad;
  const posterUrl = posterFileName === null ? undefined : mediaAddress(publicUrl, posterFileName);
  return { fileName, url: mediaAddress(publicUrl, fileName), posterUrl, width, height };
}
