import { webAddressFault } from "@intermission/ad-core/web-address";
import type { Device } from "../creatives/choose-rendition.ts";
import { addressForPage, type DocumentCompanion, MAX_URL_LENGTH } from "./vast-ad.ts";

/** Smaller ones are banners beside a video, and too coarse for a whole window. */
const MIN_SIDE = 200;
/** The memory of a phone's browser limits the pictures that it decodes. */
const MAX_SIDE = 4096;
/** Of the longer to the shorter side: a billboard (970 × 250) would be a strip in a phone's window. */
const MAX_ELONGATION = 2.5;
/** The width of the window, by its height: Telegram opens mini-apps upright on phones and on computers. */
const WINDOW_RATIO = 9 / 16;

/**
 * Chooses the companion for the end card: the one that shows the most detail in the viewer's window, and of equal ones the
 * smallest. One that its ad declares an end card (VAST 4.1) precedes the others; one that belongs beside the running video
 * is never chosen.
 */
export function chooseCompanion(
  companions: readonly DocumentCompanion[],
  { device, isPlainHttpAllowed }: { device: Device; isPlainHttpAllowed: boolean },
): DocumentCompanion | undefined {
  const ranked = companions
    .filter(isShowable)
    .toSorted(
      (a, b) =>
        Number(isEndCard(b)) - Number(isEndCard(a)) ||
        detailOf(b, device) - detailOf(a, device) ||
        sizeOf(a) - sizeOf(b),
    );
  const [chosen] = ranked;
  return chosen && { ...chosen, imageUrl: addressForPage(chosen.imageUrl, isPlainHttpAllowed) };
}

/** Whether the end card can show it, as far as its ad declares it. */
export function isShowable({ imageUrl, width, height, renderingMode }: DocumentCompanion): boolean {
  const [shorter, longer] = [Math.min(width, height), Math.max(width, height)];
  if (shorter < MIN_SIDE || longer > MAX_SIDE || longer > shorter * MAX_ELONGATION) return false;
  if (renderingMode === "concurrent" || imageUrl.length > MAX_URL_LENGTH) return false;
  return webAddressFault(imageUrl, { isPlainHttpAllowed: true }) === undefined;
}

function isEndCard({ renderingMode }: DocumentCompanion): boolean {
  return renderingMode === "end-card";
}

/** How many of the window's pixels show the picture, but no more than it has. */
function detailOf(companion: DocumentCompanion, { shorterSide }: Device): number {
  const { width, height } = companion;
  const shownWidth = Math.min(shorterSide, (shorterSide / WINDOW_RATIO) * (width / height));
  return Math.min(sizeOf(companion), Math.round((shownWidth * shownWidth * height) / width));
}

function sizeOf({ width, height }: DocumentCompanion): number {
  return width * height;
}
