import { setTimeout as wait } from "node:timers/promises";
import { compareRecords, type Verdict } from "./compare-records.ts";
import { compareWire } from "./compare-wire.ts";
import type { Promises } from "./earn-events.ts";
import type { Follower } from "./follow-rewards.ts";
import { type ListedEvent, type Records, readRecords } from "./read-records.ts";
import type { Nodes } from "./start-nodes.ts";

export interface Settled extends Verdict {
  readonly records: Records;
  /** How many events are in each state of delivery. */
  readonly states: ReadonlyMap<ListedEvent["delivery"], number>;
}

/** By then leases, backoffs and the first retries are over, and the API has fetched the events that it missed. */
const RECORDED_WITHIN_MS = 240_000;
/** Deliveries that failed several times wait longer; by then their events are at least recorded. */
const DELIVERED_WITHIN_MS = 90_000;

/**
 * Waits until the records are correct, up to a limit, and returns the remaining faults. After the last run each delivery
 * must also be delivered or waiting for its next attempt.
 */
export async function settleRecords(scene: {
  readonly nodes: Nodes;
  readonly promises: Promises;
  readonly followers: readonly Follower[];
  readonly isLast: boolean;
}): Promise<Settled> {
  const startedAt = Date.now();
  for (;;) {
    const records = await readRecords(scene.nodes);
    const { faults: recordFaults, ...counts } = compareRecords(scene.promises, records, scene.followers);
    const faults = [...recordFaults, ...compareWire(records, scene.nodes.arrivals)];
    const states = statesOf(records);
    const elapsedMs = Date.now() - startedAt;
    const isDelivered =
      !scene.isLast || states.get("delivered") === records.events.length || elapsedMs > DELIVERED_WITHIN_MS;
    const isOver = counts.paidTwice > 0 || elapsedMs > RECORDED_WITHIN_MS;
    if (isOver || (faults.length === 0 && isDelivered)) {
      return { ...counts, records, states, faults: [...faults, ...(scene.isLast ? stateFaults(states) : [])] };
    }
    await wait(1000);
  }
}

function statesOf({ events }: Records): Map<ListedEvent["delivery"], number> {
  const states = new Map<ListedEvent["delivery"], number>();
  for (const { delivery } of events) states.set(delivery, (states.get(delivery) ?? 0) + 1);
  return states;
}

function stateFaults(states: ReadonlyMap<ListedEvent["delivery"], number>): string[] {
  const wrong = [...states].filter(([state]) => state !== "delivered" && state !== "waiting");
  return wrong.map(([state, number]) => `${number} deliveries are still ${state}`);
}
