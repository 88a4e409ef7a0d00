import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { AppRouter } from "@intermission/api/router";
import type { inferRouterOutputs } from "@trpc/server";
import type { PublisherApi } from "./publisher-api.ts";

export type RewardEntry = inferRouterOutputs<AppRouter>["rewards"]["list"]["entries"][number];

const reconnectAfterMilliseconds = 1000;

/**
 * Hears of every ledger entry, also of those that were booked while this bot or the API was down: the place in the feed
 * is kept in a file, and moves on only after the entry was handled. An entry may come twice, around a crash.
 */
export function followRewards(options: {
  readonly api: Pick<PublisherApi, "rewards">;
  readonly cursorFile: string;
  readonly onEntry: (entry: RewardEntry) => void;
  readonly onTrouble: (error: unknown) => void;
}): { stop(): void } {
  let isStopped = false;
  let cursor = readCursor(options.cursorFile);
  let subscription: { unsubscribe(): void } | undefined;
  let retry: NodeJS.Timeout | undefined;

  function subscribe(): void {
    if (isStopped) return;
    const input = cursor === undefined ? { from: "start" as const } : { lastEventId: cursor };
    subscription = options.api.rewards.watch.subscribe(input, {
      onData({ id, data }) {
        options.onEntry(data);
        cursor = id;
        keepCursor(options.cursorFile, id);
      },
      onError: (error) => again(error),
      onComplete: () => again(undefined),
    });
  }

  function again(error: unknown): void {
    if (error !== undefined) options.onTrouble(error);
    subscription?.unsubscribe();
    clearTimeout(retry);
    if (!isStopped) retry = setTimeout(subscribe, reconnectAfterMilliseconds);
  }

  subscribe();
  return {
    stop() {
      isStopped = true;
      clearTimeout(retry);
      subscription?.unsubscribe();
    },
  };
}

function readCursor(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim() || undefined;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new Error(`the place in the feed of rewards could not be read from ${file}`, { cause: error });
  }
}

/** Written beside and renamed: a crash leaves the old place or the new one. */
function keepCursor(file: string, cursor: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, `${cursor}\n`);
  renameSync(`${file}.new`, file);
}
