import type { Database } from "@intermission/postgres/open-database";

const CHANNEL = "deliveries";
/** Minimum interval between notifications of the other nodes. */
const NOTIFY_EVERY_MS = 50;

/**
 * Sends wake-ups to the other nodes of a shared database, at most 20 a second, and calls `ring` for theirs. A lost
 * notification costs one poll interval.
 */
export function shareWakeUps(database: Database, ring: () => void): { tell(): void; stop(): Promise<void> } {
  const node = crypto.randomUUID();
  let timer: NodeJS.Timeout | undefined;
  let hasMore = false;
  const notify = () => {
    hasMore = false;
    database.notify(CHANNEL, node).catch(() => {});
    timer = setTimeout(() => {
      timer = undefined;
      if (hasMore) notify();
    }, NOTIFY_EVERY_MS);
  };
  const listening = database.listen(CHANNEL, (from) => {
    if (from !== node) ring();
  });
  return {
    tell() {
      hasMore = true;
      if (timer === undefined) notify();
    },
    async stop() {
      clearTimeout(timer);
      await (await listening)();
    },
  };
}
