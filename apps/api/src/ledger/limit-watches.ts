import type { WatchedEntry, WatchOutcome } from "./schema.ts";

/** A bot needs one line, and each one asks the database. */
const mostWatches = 64;

/** Lets so many watch at once on this node, and frees a place when its line ends, however it ends. */
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
