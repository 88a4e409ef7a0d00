import { EventEmitter } from "node:events";

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
