import type { AdDatabase } from "../ad-database.ts";

const CHANNEL = "deliveries";
/** Other nodes hear of new work so often at most. */
const NOTIFY_EVERY_MS = 50;

/**
 * Passes wake-ups on to the other nodes of a shared database, and theirs to `ring`, 20 a second at most. A notice that gets
 * lost costs the time of a poll.
 */
export function shareWakeUps(database: AdDatabase, ring: () => void): { tell(): void; stop(): Promise<void> } {
  if (database.kind === "embedded") return { tell() {}, async stop() {} };
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
