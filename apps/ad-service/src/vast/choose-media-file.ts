export interface MediaFile {
  fileURL: string | null;
  deliveryType: string | null;
  mimeType: string | null;
  codec: string | null;
  apiFramework: string | null;
  /** kbit/s; 0 where the ad does not say. */
  bitrate: number;
  width: number;
  height: number;
}

/** What a screen of this kind shows, and what its connection carries without stalls. */
const devices = {
  mobile: { shorterSide: 720, bitrate: 2500 },
  desktop: { shorterSide: 1080, bitrate: 6000 },
};
export type Device = keyof typeof devices;

const MOBILE_AGENT = /Android|iPhone|iPad|iPod|Mobile/i;
const PLAYABLE_TYPES = ["video/mp4", "video/webm"];
/** Not every webview decodes them. */
const RARE_CODECS = /hev1|hvc1|h\.?265|hevc|av01|av1\b|vp9|vp09|dvh|mp4v/i;
const UNKNOWN_SIZE = { width: 640, height: 360 };

export function deviceOf(userAgent: string): Device {
  return MOBILE_AGENT.test(userAgent) ? "mobile" : "desktop";
}

/**
 * The file that looks best without more pixels or bits than the device has use for; if all have more, the smallest. Only
 * what every webview plays: progressive MP4 or WebM by https (http where the page itself may use it), no scripts.
 */
export function chooseMediaFile<File extends MediaFile>(
  files: readonly File[],
  { device, isPlainHttpAllowed }: { device: Device; isPlainHttpAllowed: boolean },
): (File & { fileURL: string; mimeType: string }) | undefined {
  const limits = devices[device];
  const playable = files.flatMap((file) => playableOf(file, isPlainHttpAllowed));
  const fitting = playable.filter(
    (file) => shorterSideOf(file) <= limits.shorterSide && file.bitrate <= limits.bitrate,
  );
  const ranked = (fitting.length > 0 ? fitting : playable).toSorted(
    (a, b) => shorterSideOf(a) - shorterSideOf(b) || a.bitrate - b.bitrate || preference(a) - preference(b),
  );
  return fitting.length > 0 ? ranked.at(-1) : ranked[0];
}

function playableOf<File extends MediaFile>(file: File, isPlainHttpAllowed: boolean) {
  const { fileURL, deliveryType, codec, apiFramework } = file;
  const mimeType = file.mimeType?.trim().toLowerCase() ?? "";
  const isPlayable =
    PLAYABLE_TYPES.includes(mimeType) &&
    deliveryType?.toLowerCase() === "progressive" &&
    !apiFramework &&
    !RARE_CODECS.test(codec ?? "");
  if (!isPlayable || fileURL === null) return [];
  const url = URL.parse(fileURL);
  if (!url || url.username || url.password) return [];
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isPlainHttpAllowed)) return [];
  const size = file.width > 0 && file.height > 0 ? { width: file.width, height: file.height } : UNKNOWN_SIZE;
  return [{ ...file, ...size, mimeType, fileURL: url.href }];
}

/** Phones decode H.264 in hardware. */
function preference({ mimeType }: { mimeType: string }): number {
  return mimeType === "video/mp4" ? 1 : 0;
}

function shorterSideOf({ width, height }: { width: number; height: number }): number {
  return Math.min(width, height);
}
