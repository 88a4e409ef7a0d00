import type { DropReason } from "@intermission/operator-api/creatives";

/** How many parts were dropped, by reason. Filled in while documents are read and judged. */
export type Drops = Partial<Record<DropReason, number>>;

export function drop(drops: Drops, reason: DropReason, count = 1): void {
  if (count > 0) drops[reason] = (drops[reason] ?? 0) + count;
}
