import { isPlainHttp, webAddressFault } from "@intermission/ad-core/web-address";
import { checkLandingUrl } from "@intermission/operator-api/campaigns";
import type { DropReason } from "@intermission/operator-api/creatives";
import type { VastReason } from "@intermission/operator-api/vast-reasons";
import { canPlay, chooseRendition, type Device } from "../creatives/choose-rendition.ts";
import { chooseCompanion, isShowable } from "./choose-companion.ts";
import { type Drops, drop } from "./drops.ts";
import { MAX_PROGRESS } from "./read-creative.ts";
import {
  type AdNames,
  type AdVerification,
  addressForPage,
  callableUrls,
  categoryText,
  type DocumentAd,
  type DocumentCategory,
  type DocumentCompanion,
  type DocumentLinear,
  type DocumentVerification,
  type LinearEvent,
  MAX_URL_LENGTH,
  type MediaFile,
  offsetMsOf,
  type ProgressTracker,
  type TrackedEvent,
  type VastAd,
  type VastCompanion,
} from "./vast-ad.ts";

/** The containers that webviews play, and other names of theirs. */
const PLAYABLE_TYPES = new Map([
  ["video/mp4", "video/mp4"],
  ["video/x-mp4", "video/mp4"],
  ["video/m4v", "video/mp4"],
  ["video/x-m4v", "video/mp4"],
  ["application/mp4", "video/mp4"],
  ["video/webm", "video/webm"],
]);
/** Where an ad does not declare a file's type. */
const typesByEnding = new Map([
  ["mp4", "video/mp4"],
  ["m4v", "video/mp4"],
  ["webm", "video/webm"],
]);
/** Not every webview decodes these. */
const RARE_CODECS =
  /hev1|hvc1|h\.?265|hevc|vvc1|vvi1|av01|av1\b|vp9|vp09|dvh|dva|mp4v|mpeg-?[24]|divx|xvid|theora|mjpe?g|prores|ap4h|apc[nhos]/i;
/** H.264 by its names, also as a part of MPEG-4: `MPEG-4/AVC`. */
const H264 = /avc|h\.?264/i;
const SOUND_CODEC = /^(mp4a|aac|mp3|opus|vorbis|flac|alac|[ae]c-3)/i;
const UNKNOWN_SIZE = { width: 640, height: 360 };

/**
 * Chooses the best-looking file with no more pixels or bits than the device can use; if all have more, the smallest.
 * Only formats that the device plays: progressive MP4 or WebM, no scripts. Where the page may not use http, a file with such
 * an address is requested by https, and only if no other file can be played.
 */
export function chooseMediaFile<File extends MediaFile>(
  files: readonly File[],
  { device, isPlainHttpAllowed }: { device: Device; isPlainHttpAllowed: boolean },
): (File & { fileUrl: string; mimeType: string }) | undefined {
  const playable = files
    .flatMap((file) => playableOf(file, isPlainHttpAllowed))
    .filter(({ mimeType }) => canPlay(device, mimeType));
  const asDeclared = playable.filter(({ isUpgraded }) => !isUpgraded);
  return chooseRendition(
    (asDeclared.length > 0 ? asDeclared : playable).toSorted((a, b) => preference(a) - preference(b)),
    device,
  );
}

function playableOf<File extends MediaFile>(file: File, isPlainHttpAllowed: boolean) {
  const mimeType = containerOf(file);
  if (mimeType === undefined || mediaFault(file) !== undefined) return [];
  const size = file.width > 0 && file.height > 0 ? { width: file.width, height: file.height } : UNKNOWN_SIZE;
  const fileUrl = addressForPage(file.fileUrl, isPlainHttpAllowed);
  return [{ ...file, ...size, mimeType, fileUrl, isUpgraded: isPlainHttp(file.fileUrl) && !isPlainHttp(fileUrl) }];
}

/** Why no webview plays a file, as far as its ad declares it; undefined if it may play. */
function mediaFault(file: MediaFile): DropReason | undefined {
  const { fileUrl, delivery, apiFramework } = file;
  if (apiFramework) return "media-script";
  if (delivery !== null && delivery.toLowerCase() !== "progressive") return "media-delivery";
  if (containerOf(file) === undefined) return "media-type";
  if (hasUnplayableCodec(file)) return "media-codec";
  const isAddress =
    fileUrl.length <= MAX_URL_LENGTH && webAddressFault(fileUrl, { isPlainHttpAllowed: true }) === undefined;
  return isAddress ? undefined : "media-address";
}

function containerOf({ mimeType, fileUrl }: MediaFile): string | undefined {
  const essence = mimeType?.split(";")[0]?.trim().toLowerCase();
  if (essence) return PLAYABLE_TYPES.get(essence);
  const path = fileUrl.split(/[?#]/)[0]?.toLowerCase() ?? "";
  return typesByEnding.get(path.slice(path.lastIndexOf(".") + 1));
}

/** `codec`, and the parameter `codecs` of the type (RFC 6381), which lists all: a list of sound alone has no picture. */
function hasUnplayableCodec({ codec, mimeType }: MediaFile): boolean {
  const listed = /;\s*codecs?\s*=\s*["']?([^"';]*)/i.exec(mimeType ?? "")?.[1] ?? "";
  const codecs = listed.split(",").flatMap((name) => name.trim() || []);
  const isSound = codecs.length > 0 && codecs.every((name) => SOUND_CODEC.test(name));
  return isSound || [codec ?? "", ...codecs].some((name) => RARE_CODECS.test(name) && !H264.test(name));
}

/** Phones decode H.264 in hardware. */
function preference({ mimeType }: { mimeType: string }): number {
  return mimeType === "video/mp4" ? 1 : 0;
}

type JudgedAd = { outcome: "ad"; ad: VastAd } | { outcome: "fault"; reason: VastReason };

const MIN_MS = 1000;
const MAX_MS = 180_000;
const MAX_VERIFICATIONS = 16;
const MAX_PARAMETERS_LENGTH = 8 * 1024;
/** Limit for all trackers of an ad, in characters: they are stored with the view and read at each event. */
const MAX_TRACKER_LENGTH = 128 * 1024;

interface Judging {
  userAgent: string;
  device: Device;
  isPlainHttpAllowed: boolean;
  drops?: Drops;
  now: Date;
}

/**
 * Whether an unwrapped ad can be shown here: one video of 1 to 180 s, with a file that the viewer's device plays. Of several
 * linear creatives, the first that can be shown is used. If none can, the fault is that of the first one with media files.
 */
export function judgeAd(ad: DocumentAd, { userAgent, device, isPlainHttpAllowed, drops = {}, now }: Judging): JudgedAd {
  if (ad.creatives.length === 0) return fault({ kind: "no-creative" });
  const blocked = blockedCategoryOf(ad);
  if (blocked !== undefined) return fault({ kind: "blocked-category", category: blocked });
  const linears = ad.creatives.filter((creative) => creative.kind === "linear");
  let video: JudgedVideo | undefined;
  for (const linear of linears.filter(({ mediaFiles }) => mediaFiles.length > 0)) {
    const judged = judgeVideo(linear, { device, isPlainHttpAllowed, drops });
    if (!video || judged.outcome === "video") video = judged;
    if (video.outcome === "video") break;
  }
  if (!video) return fault({ kind: linears.length > 0 ? "no-media-file" : "no-linear" });
  if (video.outcome === "fault") return video;
  const { linear, durationMs, file } = video;
  const { id: adId, adSystem, advertiser, title } = ad;
  drop(drops, "companion", ad.companions.filter((one) => !isShowable(one)).length);
  const companion = chooseCompanion(ad.companions, { device, isPlainHttpAllowed });
  const { companionsRequired, companionCount, expiresSeconds } = ad;
  // The end card shows one.
  const isMissing = companionsRequired === "any" ? !companion : companionCount > Number(companion !== undefined);
  if (companionsRequired !== "none" && companionCount > 0 && isMissing) {
    return fault({ kind: "companion-required", required: companionsRequired });
  }
  return {
    outcome: "ad",
    ad: {
      adId,
      adSystem,
      advertiser,
      title,
      mediaUrl: file.fileUrl,
      mediaType: file.mimeType,
      width: file.width,
      height: file.height,
      durationMs,
      clickThrough: clickThroughOf(linear),
      trackers: trackersOf(ad, { linear, durationMs, companion, drops }),
      progressTrackers: progressOf(linear, { durationMs, drops }),
      named: namesOf(ad),
      ...(expiresSeconds !== undefined && {
        expiresAt: new Date(now.getTime() + Math.min(expiresSeconds, MAX_EXPIRES_SECONDS) * 1000).toISOString(),
      }),
      verifications: ad.verifications.filter(isShort).slice(0, MAX_VERIFICATIONS).map(verificationOf),
      ...(companion && { companion: companionOf(companion) }),
      userAgent,
    },
  };
}

type JudgedVideo =
  | Extract<JudgedAd, { outcome: "fault" }>
  | { outcome: "video"; linear: DocumentLinear; durationMs: number; file: MediaFile & { mimeType: string } };

function judgeVideo(
  linear: DocumentLinear,
  { device, isPlainHttpAllowed, drops }: Required<Omit<Judging, "userAgent" | "now">>,
): JudgedVideo {
  const { durationMs } = linear;
  if (durationMs === undefined) return fault({ kind: "no-duration" });
  if (durationMs < MIN_MS || durationMs > MAX_MS) return fault({ kind: "duration", milliseconds: durationMs });
  for (const one of linear.mediaFiles) {
    const reason = mediaFault(one);
    if (reason) drop(drops, reason);
  }
  const file = chooseMediaFile(linear.mediaFiles, { device, isPlainHttpAllowed });
  return file ? { outcome: "video", linear, durationMs, file } : fault({ kind: "no-playable-file" });
}

/** Longer than any offer lives. */
const MAX_EXPIRES_SECONDS = 7 * 24 * 3600;

/** The first category of the ad that one of its wrappers blocks. Codes of different authorities differ. */
function blockedCategoryOf({ categories, blockedCategories }: DocumentAd): string | undefined {
  const isSame = (one: DocumentCategory, other: DocumentCategory) =>
    one.code.toLowerCase() === other.code.toLowerCase() &&
    (one.authority === null || other.authority === null || one.authority === other.authority);
  return categories.find((one) => blockedCategories.some((blocked) => isSame(one, blocked)))?.code;
}

function namesOf({ adServingId, universalAdIds, categories }: DocumentAd): AdNames {
  const adCategories = categoryText(categories);
  return {
    ...(adServingId !== null && { adServingId }),
    ...(universalAdIds.length > 0 && { universalAdId: universalAdIds.join(",") }),
    ...(adCategories !== undefined && { adCategories }),
  };
}

function progressOf(
  { progressUrls }: DocumentLinear,
  { durationMs, drops }: { durationMs: number; drops: Drops },
): ProgressTracker[] {
  const known = progressUrls.flatMap(({ offset, url }) => {
    const offsetMs = offsetMsOf(offset, durationMs);
    if (offsetMs === undefined) drop(drops, "event");
    return offsetMs === undefined ? [] : [{ offsetMs, url }];
  });
  drop(drops, "limit", Math.max(0, known.length - MAX_PROGRESS));
  return known.slice(0, MAX_PROGRESS);
}

/** MRC: a video was viewable once half of it was in view for two seconds. The player fills the window, and a hidden one pauses. */
const VIEWABLE_MS = 2000;

/** The first milestone of playback that is not before these seconds; undefined if the video is shorter. */
function viewableEvent(durationMs: number): LinearEvent | undefined {
  const milestones = ["firstQuartile", "midpoint", "thirdQuartile", "complete"] as const;
  return milestones.find((_event, index) => (durationMs * (index + 1)) / milestones.length >= VIEWABLE_MS);
}

function trackersOf(
  ad: DocumentAd,
  {
    linear,
    durationMs,
    companion,
    drops,
  }: { linear: DocumentLinear; durationMs: number; companion: DocumentCompanion | undefined; drops: Drops },
): VastAd["trackers"] {
  const { trackingUrls, clickTrackingUrls } = linear;
  const viewableAt = viewableEvent(durationMs);
  const of = (...events: LinearEvent[]) =>
    callableUrls(
      ...events.map((event) => trackingUrls[event]),
      events.some((event) => event === viewableAt) ? ad.viewableUrls : [],
    );
  // In order of importance: what exceeds the limit is dropped from the end.
  const all: Record<TrackedEvent, string[]> = {
    impression: callableUrls(ad.impressionUrls),
    // Those of a bid are added to its ad.
    win: [],
    billing: [],
    error: callableUrls(ad.errorUrls),
    click: callableUrls(clickTrackingUrls),
    complete: of("complete"),
    loaded: of("loaded"),
    start: of("creativeView", "start"),
    playerExpand: of("playerExpand"),
    firstQuartile: of("firstQuartile"),
    midpoint: of("midpoint"),
    thirdQuartile: of("thirdQuartile"),
    close: of("close", "closeLinear"),
    skip: of("skip"),
    mute: of("mute"),
    unmute: of("unmute"),
    pause: of("pause"),
    resume: of("resume"),
    verificationNotExecuted: callableUrls(...ad.verifications.map(({ notExecutedUrls }) => notExecutedUrls)),
    companionView: callableUrls(companion?.viewUrls),
    companionClick: callableUrls(companion?.clickTrackingUrls),
  };
  let left = MAX_TRACKER_LENGTH;
  const kept = Object.entries(all).map(([event, urls]) => {
    const fitting = urls.filter((url) => {
      const fits = url.length <= left;
      if (fits) left -= url.length;
      else drop(drops, "limit");
      return fits;
    });
    return [event, fitting] as const;
  });
  return Object.fromEntries(kept.filter(([, urls]) => urls.length > 0));
}

function isShort({ resource, parameters }: DocumentVerification): boolean {
  return (resource?.length ?? 0) <= MAX_URL_LENGTH && (parameters?.length ?? 0) <= MAX_PARAMETERS_LENGTH;
}

function verificationOf({ vendor, apiFramework, resource, parameters }: DocumentVerification): AdVerification {
  return { vendor, apiFramework, resource, parameters };
}

function companionOf(companion: DocumentCompanion): VastCompanion {
  const { imageUrl, width, height } = companion;
  return { imageUrl, width, height, clickThrough: clickThroughOf(companion) };
}

function clickThroughOf({ clickThrough }: Pick<DocumentLinear, "clickThrough">): string | null {
  const checked = checkLandingUrl(clickThrough ?? "");
  return checked.outcome === "valid" ? checked.url : null;
}

function fault(reason: VastReason): Extract<JudgedAd, { outcome: "fault" }> {
  return { outcome: "fault", reason };
}
