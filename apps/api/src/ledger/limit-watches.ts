import type { WatchedEntry, WatchOutcome } from "./schema.ts";

/** A bot needs one watch, and each one queries the database. */
const mostWatches = 64;

/** Limits the concurrent watches on this node. A place is released when its watch ends, however it ends. */
export function limitWatches(limit = mostWatches): (open: () => AsyncIterable<WatchedEntry>) => WatchOutcome {
  let watching = 0;
  return (open) => {
    if (watching >= limit) return { outcome: "too-many", limit };
    return { outcome: "watching", entries: counted(open) };
  };

  async function* counted(open: () => AsyncIterable<WatchedEntry>): AsyncGenerator<WatchedEntry> {
    watching += 1;
    try {
      yield* open();
    } finally {
      watching -= 1;
    }
  }
}
