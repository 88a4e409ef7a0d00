import { EventEmitter } from "node:events";
import type { AdDatabase } from "../ad-database.ts";

const CHANNEL = "deliveries";
/** Other nodes hear of new work so often at most. */
const NOTIFY_EVERY_MS = 50;

/** A hint inside this process; the loop's polling is the truth. */
const alarm = new EventEmitter().setMaxListeners(0);

/** Tells the delivery loop that an event was committed. Cheap, and safe to call when there is none. */
export function wakeDeliveries(): void {
  alarm.emit("due");
}

export function onDeliveriesWoken(listener: () => void): () => void {
  alarm.on("due", listener);
  return () => alarm.off("due", listener);
}

/**
 * Passes wake-ups on to the other nodes of a shared database, and theirs to `ring`, 20 a second at most. A notice that gets
 * lost costs the time of a poll.
 */
export async function shareWakeUps(database: AdDatabase, ring: () => void): Promise<() => Promise<void>> {
  if (database.kind === "embedded") return async () => {};
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
  const forget = onDeliveriesWoken(() => {
    hasMore = true;
    if (timer === undefined) notify();
  });
  const stopListening = await database.listen(CHANNEL, (from) => {
    if (from !== node) ring();
  });
  return async () => {
    forget();
    clearTimeout(timer);
    await stopListening();
  };
}
