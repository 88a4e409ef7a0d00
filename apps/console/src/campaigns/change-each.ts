import type { Campaign } from "@intermission/operator-api/campaigns";

export const verbs = ["pause", "resume", "archive"] as const;
export type Verb = (typeof verbs)[number];
export type Changed = Pick<Campaign, "campaignId" | "name" | "status" | "pausedBy">;

export interface ChangeOptions {
  onProgress?: (count: number) => void;
  /** Aborted: the request that is under way is finished, and no other one is made. */
  signal?: AbortSignal;
}

/** One after another; those that were changed, and what the others failed with. */
export async function changeEach<Item>(
  items: readonly Item[],
  request: (item: Item) => Promise<unknown>,
  { onProgress, signal }: ChangeOptions = {},
) {
  const done: Item[] = [];
  const faults: Error[] = [];
  for (const item of items) {
    if (signal?.aborted) break;
    try {
      await request(item);
      done.push(item);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      faults.push(error);
    }
    onProgress?.(done.length + faults.length);
  }
  return { done, faults, left: items.length - done.length - faults.length };
}

/**
 * What takes a change back, and of which campaigns. An operator that pauses again what its advertiser had paused would make the
 * pause its own, and the advertiser could not end it.
 */
export function undoOf(
  verb: Verb,
  done: readonly Changed[],
  { isOperator }: { isOperator: boolean },
): { verb: Verb; campaigns: readonly Changed[] } | undefined {
  if (done.length === 0) return undefined;
  switch (verb) {
    case "archive":
      return undefined;
    case "pause":
      return { verb: "resume", campaigns: done };
    case "resume": {
      const campaigns = isOperator ? done.filter(({ pausedBy }) => pausedBy !== "advertiser") : done;
      return campaigns.length === 0 ? undefined : { verb: "pause", campaigns };
    }
  }
}
