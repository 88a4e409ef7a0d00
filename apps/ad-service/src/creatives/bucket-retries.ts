import { setTimeout as wait } from "node:timers/promises";
import { BucketFault } from "./bucket-faults.ts";

/** Waits before each further attempt: some 12 s in all, since a person waits for the answer. */
const PAUSES_MS = [200, 400, 800, 1600, 3000, 6000];

/** Repeats a request that begins anew each time, while the bucket is away and some attempts are left. */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  { pausesMs = PAUSES_MS }: { pausesMs?: readonly number[] | undefined },
): Promise<Result> {
  for (const pauseMs of pausesMs) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof BucketFault && error.isAway)) throw error;
      // Uploads that failed together do not come back together.
      await wait(pauseMs * (0.75 + Math.random() / 2));
    }
  }
  return attempt();
}
