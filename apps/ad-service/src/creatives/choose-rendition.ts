/** The resolution that a screen shows, and the bitrate that its connection carries without stalls. */
export interface Device {
  shorterSide: number;
  /** kbit/s */
  bitrate: number;
  /** What its browser plays. Default: every type that the service accepts. */
  mediaTypes?: readonly string[] | undefined;
  /** The name of a file that it loads already, which is chosen if it is one of the video's. */
  preloaded?: string | undefined;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const MOBILE_AGENT = /Android|iPhone|iPad|iPod|Mobile/i;
const mobile: Device = { shorterSide: 720, bitrate: 2500 };
const desktop: Device = { shorterSide: 1080, bitrate: 6000 };

/** The user turned on data saving, although the connection may carry more. */
const savingData: Device = { shorterSide: 360, bitrate: 600 };
/** https://wicg.github.io/netinfo/#effective-connection-types */
const byConnection = new Map<string, Device>([
  ["slow-2g", { shorterSide: 360, bitrate: 250 }],
  ["2g", { shorterSide: 360, bitrate: 250 }],
  ["3g", { shorterSide: 480, bitrate: 700 }],
]);
/** The share of a connection's reported bandwidth that is used; the rest is a reserve for fluctuations. */
const USABLE_SHARE = 0.7;

/**
 * Describes a device by the browser's name and, where it sends them, its hints (`Save-Data`, `ECT`, `Downlink`,
 * `Sec-CH-Viewport-Width` with `Sec-CH-DPR`). Invalid hints are ignored.
 */
export function describeDevice(headers: Headers): Device {
  const limits = [
    MOBILE_AGENT.test(textOf(headers, "user-agent")) ? mobile : desktop,
    ...(textOf(headers, "save-data").toLowerCase() === "on" ? [savingData] : []),
    ...connectionOf(headers),
  ];
  const downlink = numberOf(headers, "downlink");
  const viewport = numberOf(headers, "sec-ch-viewport-width");
  const density = numberOf(headers, "sec-ch-dpr");
  return {
    // No video is shown wider than the page, so its shorter side needs no more pixels than the page is wide.
    shorterSide: Math.min(...limits.map(({ shorterSide }) => shorterSide), viewport * density || Infinity),
    bitrate: Math.min(...limits.map(({ bitrate }) => bitrate), downlink * 1000 * USABLE_SHARE || Infinity),
  };
}

export function canPlay({ mediaTypes }: Device, mediaType: string): boolean {
  return mediaTypes === undefined || mediaTypes.includes(mediaType);
}

function connectionOf(headers: Headers): Device[] {
  const connection = byConnection.get(textOf(headers, "ect").toLowerCase());
  return connection ? [connection] : [];
}

function textOf(headers: Headers, name: string): string {
  const value = headers[name];
  return typeof value === "string" ? value.trim() : "";
}

/** 0 if the hint is missing or not a number. */
function numberOf(headers: Headers, name: string): number {
  const text = textOf(headers, name);
  return /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : 0;
}

/** One of several files of the same video. */
interface VideoFile {
  width: number;
  height: number;
  /** kbit/s; 0 if unknown. */
  bitrate: number;
}

/**
 * Chooses the best-looking file with no more pixels or bits than the device can use; if all have more, the smallest.
 * Among equal files it chooses the last, or the first of those that exceed what the device can use.
 */
export function chooseRendition<File extends VideoFile>(files: readonly File[], device: Device): File | undefined {
  const fitting = files.filter((file) => shorterSideOf(file) <= device.shorterSide && file.bitrate <= device.bitrate);
  const ranked = (fitting.length > 0 ? fitting : files).toSorted(
    (a, b) => shorterSideOf(a) - shorterSideOf(b) || a.bitrate - b.bitrate,
  );
  return fitting.length > 0 ? ranked.at(-1) : ranked[0];
}

/** The files that are lighter than the chosen one, the heaviest first: for a player whose playback stalls. */
export function lighterThan<File extends VideoFile>(chosen: VideoFile, files: readonly File[]): File[] {
  return files.filter((file) => file.bitrate < chosen.bitrate).toSorted((a, b) => b.bitrate - a.bitrate);
}

function shorterSideOf({ width, height }: VideoFile): number {
  return Math.min(width, height);
}
