import { checkLandingUrl } from "../campaigns/check-landing-url.ts";
import type { Device } from "../creatives/describe-device.ts";
import { chooseMediaFile, type MediaFile } from "./choose-media-file.ts";
import type { TrackedEvent, VastAd, VastErrorCode } from "./vast-ad.ts";

/** What the parser makes of an `Ad` with the wrappers around it; only what is read here. */
export interface ParsedAd {
  id: string | null;
  errorCode?: number;
  /** Of a wrapper whose tag brought nothing. */
  nextWrapperURL?: string;
  system: { value: string | null } | null;
  advertiser: { value: string | null } | null;
  errorURLTemplates: (string | null)[];
  impressionURLTemplates: ParsedUrl[];
  creatives: ParsedCreative[];
  adVerifications: ParsedVerification[];
}

interface ParsedUrl {
  url: string | null;
}

interface ParsedCreative {
  type: string;
  duration?: number;
  mediaFiles?: MediaFile[];
  videoClickThroughURLTemplate?: ParsedUrl | null;
  videoClickTrackingURLTemplates?: ParsedUrl[];
  trackingEvents?: Record<string, (string | null)[]>;
}

interface ParsedVerification {
  vendor: string | null;
  apiFramework: string | null;
  resource: string | null;
  parameters: string | null;
  trackingEvents: Record<string, (string | null)[]>;
}

export type JudgedAd = { outcome: "ad"; ad: VastAd } | { outcome: "fault"; code: VastErrorCode; detail: string };

const SHORTEST_SECONDS = 1;
const LONGEST_SECONDS = 180;
const MOST_TRACKERS = 32;
const LONGEST_ADDRESS = 4096;
const LONGEST_TEXT = 128;
const MOST_VERIFICATIONS = 16;

/** Whether an unwrapped ad can be shown here: one video of 1 to 180 s, with a file that the viewer's device plays. */
export function judgeAd(
  ad: ParsedAd,
  { userAgent, device, isPlainHttpAllowed }: { userAgent: string; device: Device; isPlainHttpAllowed: boolean },
): JudgedAd {
  if (ad.creatives.length === 0) return fault(303, "no creative after the wrappers");
  const linear = ad.creatives.find(({ type, mediaFiles }) => type === "linear" && (mediaFiles?.length ?? 0) > 0);
  if (!linear) {
    return ad.creatives.some(({ type }) => type === "linear")
      ? fault(403, "a video without media files")
      : fault(201, "no linear creative");
  }
  const seconds = linear.duration ?? -1;
  if (!(seconds >= SHORTEST_SECONDS && seconds <= LONGEST_SECONDS)) return fault(202, `a video of ${seconds} s`);
  const file = chooseMediaFile(linear.mediaFiles ?? [], { device, isPlainHttpAllowed });
  if (!file) return fault(403, "no media file that webviews play");
  return {
    outcome: "ad",
    ad: {
      adId: textOf(ad.id),
      adSystem: textOf(ad.system?.value),
      advertiser: textOf(ad.advertiser?.value),
      mediaUrl: file.fileURL,
      mediaType: file.mimeType,
      width: file.width,
      height: file.height,
      durationMs: Math.round(seconds * 1000),
      clickThrough: clickThroughOf(linear),
      trackers: trackersOf(ad, linear),
      verifications: ad.adVerifications
        .slice(0, MOST_VERIFICATIONS)
        .map(({ vendor, apiFramework, resource, parameters }) => {
          return { vendor, apiFramework, resource, parameters };
        }),
      userAgent,
    },
  };
}

/** Addresses that may be called; an ad server's empty or relative ones are left out, repeats too. */
export function callable(addresses: readonly (string | null | undefined)[]): string[] {
  const valid = addresses.filter(
    (address) => !!address && address.length <= LONGEST_ADDRESS && /^https?:\/\/[^/[\]%{}]+(\/|\?|$)/i.test(address),
  );
  return [...new Set(valid)].slice(0, MOST_TRACKERS) as string[];
}

function trackersOf(ad: ParsedAd, linear: ParsedCreative): VastAd["trackers"] {
  const of = (...events: string[]) => callable(events.flatMap((event) => linear.trackingEvents?.[event] ?? []));
  const all: Record<TrackedEvent, string[]> = {
    impression: callable(ad.impressionURLTemplates.map(({ url }) => url)),
    start: of("creativeView", "start"),
    firstQuartile: of("firstQuartile"),
    midpoint: of("midpoint"),
    thirdQuartile: of("thirdQuartile"),
    complete: of("complete"),
    close: of("close", "closeLinear"),
    verificationNotExecuted: callable(
      ad.adVerifications.flatMap(({ trackingEvents }) => trackingEvents.verificationNotExecuted ?? []),
    ),
    click: callable((linear.videoClickTrackingURLTemplates ?? []).map(({ url }) => url)),
    error: callable(ad.errorURLTemplates),
  };
  return Object.fromEntries(Object.entries(all).filter(([, addresses]) => addresses.length > 0));
}

function clickThroughOf(linear: ParsedCreative): string | null {
  const checked = checkLandingUrl(linear.videoClickThroughURLTemplate?.url ?? "");
  return checked.outcome === "valid" ? checked.url : null;
}

function textOf(text: string | null | undefined): string | null {
  const trimmed = text?.trim().slice(0, LONGEST_TEXT) ?? "";
  return trimmed === "" ? null : trimmed;
}

function fault(code: VastErrorCode, detail: string): JudgedAd {
  return { outcome: "fault", code, detail };
}
