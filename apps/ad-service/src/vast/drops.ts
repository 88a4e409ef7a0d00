/**
 * Why a part of an ad server's answer is not used although the answer may still lead to an ad; `docs/serving.md` has the
 * meaning of each.
 */
export const dropReasons = [
  "pod-ad",
  "limit",
  "media-address",
  "media-type",
  "media-delivery",
  "media-script",
  "media-codec",
  "tracker-address",
  "click-address",
  "companion",
  "captions",
] as const;
export type DropReason = (typeof dropReasons)[number];

/** How many parts were dropped, by reason. Filled in while documents are read and judged. */
export type Drops = Partial<Record<DropReason, number>>;

export function drop(drops: Drops, reason: DropReason, count = 1): void {
  if (count > 0) drops[reason] = (drops[reason] ?? 0) + count;
}
