import { webAddressFault } from "@intermission/ad-core/web-address";
import { chooseRendition } from "../creatives/choose-rendition.ts";
import { canPlay, type Device } from "../creatives/describe-device.ts";
import { LONGEST_URL } from "./callable-urls.ts";
import type { MediaFile } from "./vast-document.ts";

const PLAYABLE_TYPES = ["video/mp4", "video/webm"];
/** Not every webview decodes these. */
const RARE_CODECS = /hev1|hvc1|h\.?265|hevc|av01|av1\b|vp9|vp09|dvh|mp4v/i;
const UNKNOWN_SIZE = { width: 640, height: 360 };

/**
 * Chooses the best-looking file with no more pixels or bits than the device can use; if all have more, the smallest.
 * Only formats that the device plays: progressive MP4 or WebM over https (http where the page itself may use it), no
 * scripts.
 */
export function chooseMediaFile<File extends MediaFile>(
  files: readonly File[],
  { device, isPlainHttpAllowed }: { device: Device; isPlainHttpAllowed: boolean },
): (File & { fileUrl: string; mimeType: string }) | undefined {
  const playable = files
    .flatMap((file) => playableOf(file, isPlainHttpAllowed))
    .filter(({ mimeType }) => canPlay(device, mimeType));
  return chooseRendition(
    playable.toSorted((a, b) => preference(a) - preference(b)),
    device,
  );
}

function playableOf<File extends MediaFile>(file: File, isPlainHttpAllowed: boolean) {
  const { fileUrl, delivery, codec, apiFramework } = file;
  const mimeType = file.mimeType?.trim().toLowerCase() ?? "";
  const isPlayable =
    PLAYABLE_TYPES.includes(mimeType) &&
    delivery?.toLowerCase() === "progressive" &&
    !apiFramework &&
    !RARE_CODECS.test(codec ?? "");
  if (!isPlayable || fileUrl.length > LONGEST_URL) return [];
  if (webAddressFault(fileUrl, { isPlainHttpAllowed }) !== undefined) return [];
  const size = file.width > 0 && file.height > 0 ? { width: file.width, height: file.height } : UNKNOWN_SIZE;
  return [{ ...file, ...size, mimeType, fileUrl: new URL(fileUrl).href }];
}

/** Phones decode H.264 in hardware. */
function preference({ mimeType }: { mimeType: string }): number {
  return mimeType === "video/mp4" ? 1 : 0;
}
