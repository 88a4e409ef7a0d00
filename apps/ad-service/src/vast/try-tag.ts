import { dropReasons, type VastTrial } from "@intermission/operator-api/creatives";
import { describeDevice } from "../creatives/choose-rendition.ts";
import type { TagStep } from "./fetch-document.ts";
import { type UnwrapDeps, unwrapTag } from "./unwrap-tag.ts";
import { codesOfReasons } from "./vast-ad.ts";

const PHONE =
  "Mozilla/5.0 (Linux; Android 14; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";
/** The answer to an ad request without an ad, which is no fault of a tag (VAST 4.2, section 2.3.6.3). */
const NO_AD = 303;

/**
 * Requests a tag once, as for a viewer with an Android phone, and says what each request was answered and which media would
 * be shown. Nothing is reported to the tag: neither errors nor an impression.
 */
export async function tryTag(deps: UnwrapDeps, { url, now }: { url: string; now: () => Date }): Promise<VastTrial> {
  const device = describeDevice({ "user-agent": PHONE });
  const steps: TagStep[] = [];
  const observe = (step: TagStep) => steps.push(step);
  const request = { url, viewId: "trial", userAgent: PHONE, device, now };
  const tried = await unwrapTag({ ...deps, observe }, request);
  const dropped = dropReasons
    .map((reason) => ({ reason, count: tried.drops[reason] ?? 0 }))
    .filter(({ count }) => count > 0);
  const common = { steps: steps.map(describeStep), dropped };
  if (tried.outcome === "no-ad") return { ...common, ad: null, fault: { code: tried.code, reason: tried.reason } };
  const { adId, adSystem, advertiser, title, mediaUrl, mediaType, width, height, durationMs, clickThrough } = tried.ad;
  const { companion, trackers } = tried.ad;
  const trackerCount = Object.values(trackers).reduce((sum, urls) => sum + urls.length, 0);
  const media = { mediaUrl, mediaType, width, height, durationMs };
  const ad = { adId, adSystem, advertiser, title, ...media, clickThrough, trackers: trackerCount };
  return { ...common, ad: { ...ad, endCardUrl: companion?.imageUrl ?? null }, fault: null };
}

function describeStep(step: TagStep): VastTrial["steps"][number] {
  const { url, milliseconds } = step;
  switch (step.outcome) {
    case "redirect":
      return { url, milliseconds, outcome: "redirect", location: step.location };
    case "fault":
      return { url, milliseconds, outcome: "fault", code: codesOfReasons[step.reason.kind], reason: step.reason };
    case "document": {
      const { contentType = null, byteLength, document } = step;
      const ads = document.ads.map(({ id, adSystem, title, sequence, wrapper }) => ({
        id,
        adSystem,
        title,
        sequence,
        wraps: wrapper?.tagUrl ?? null,
      }));
      return { url, milliseconds, outcome: "document", contentType, byteLength, version: document.majorVersion, ads };
    }
    default:
      return step satisfies never;
  }
}

/**
 * Requests a tag once, like `tryTag`. Returns what keeps its ads from being shown, with the VAST error code; null if it has
 * an ad, or none at the moment.
 */
export async function faultOfTag(
  deps: UnwrapDeps,
  request: { url: string; now: () => Date },
): Promise<VastTrial["fault"]> {
  const { fault } = await tryTag(deps, request);
  return fault?.code === NO_AD ? null : fault;
}
