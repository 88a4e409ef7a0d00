import { describeDevice } from "../creatives/choose-rendition.ts";
import { type UnwrapDeps, unwrapTag } from "./unwrap-tag.ts";

const PHONE =
  "Mozilla/5.0 (Linux; Android 14; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";
/** The answer to an ad request without an ad, which is no fault of a tag (VAST 4.2, section 2.3.6.3). */
const NO_AD = 303;

/**
 * Requests a tag once, as for a viewer with an Android phone, without reporting errors to it. Returns what keeps its ads from
 * being shown, with the VAST error code; undefined if it has an ad, or none at the moment.
 */
export async function faultOfTag(
  deps: UnwrapDeps,
  { url, now }: { url: string; now: () => Date },
): Promise<string | undefined> {
  const device = describeDevice({ "user-agent": PHONE });
  const tried = await unwrapTag(deps, { url, viewId: "trial", userAgent: PHONE, device, now });
  return tried.outcome === "ad" || tried.code === NO_AD ? undefined : `${tried.detail} (VAST error ${tried.code})`;
}
