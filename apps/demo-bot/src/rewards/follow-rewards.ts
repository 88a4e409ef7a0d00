import type { AppRouter } from "@intermission/api/router";
import { TRPCClientError } from "@trpc/client";
import type { inferRouterOutputs } from "@trpc/server";
import { cursorFile } from "./cursor-file.ts";
import type { PublisherApi } from "./publisher-api.ts";

export type RewardEntry = inferRouterOutputs<AppRouter>["rewards"]["list"]["entries"][number];

export interface FollowRewardsOptions {
  readonly api: Pick<PublisherApi, "rewards">;
  /** File that stores the feed's cursor. */
  readonly file: string;
  readonly onEntry: (entry: RewardEntry) => Promise<void>;
  readonly onTrouble: (error: unknown) => void;
}

const retryAfterMilliseconds = 1000;

/**
 * Calls `onEntry` for every ledger entry in sequence, including those recorded while this bot or the API was down. The
 * cursor advances only after an entry is handled: after a crash the last entry may be handled twice.
 */
export function followRewards({ api, file, onEntry, onTrouble }: FollowRewardsOptions): { stop(): Promise<void> } {
  const place = cursorFile(file);
  let cursor = place.read();
  // Entries of an abandoned subscription are ignored: the next subscription delivers them again.
  let run = 0;
  let handled: Promise<void> = Promise.resolve();
  let subscription: { unsubscribe(): void } | undefined;
  let retry: NodeJS.Timeout | undefined;

  function subscribe(): void {
    const ours = ++run;
    const isCurrent = () => ours === run;
    const input = cursor === undefined ? { from: "start" as const } : { lastEventId: cursor };
    subscription = api.rewards.watch.subscribe(input, {
      onData: ({ id, data }) => {
        handled = handled.then(() => (isCurrent() ? handle(id, data) : undefined)).catch((error) => again(ours, error));
      },
      onError: (error) => again(ours, error),
      onComplete: () => again(ours),
    });
  }

  async function handle(id: string, entry: RewardEntry): Promise<void> {
    await onEntry(entry);
    cursor = id;
    place.keep(id);
  }

  function again(ours: number, error?: unknown): void {
    if (ours !== run) return;
    run++;
    subscription?.unsubscribe();
    if (error !== undefined) onTrouble(error);
    // The ledger is older than the cursor: read again from the start, which repeats entries but misses none.
    if (error instanceof TRPCClientError && error.data?.code === "PRECONDITION_FAILED") cursor = undefined;
    retry = setTimeout(subscribe, retryAfterMilliseconds);
  }

  subscribe();
  return {
    async stop() {
      run++;
      clearTimeout(retry);
      subscription?.unsubscribe();
      await handled;
    },
  };
}
