import { setTimeout as wait } from "node:timers/promises";
import { compareBooks, type Verdict } from "./compare-books.ts";
import { compareWire } from "./compare-wire.ts";
import type { Promises } from "./earn-events.ts";
import type { Follower } from "./follow-rewards.ts";
import { type Books, type ListedEvent, readBooks } from "./read-books.ts";
import type { Nodes } from "./start-nodes.ts";

export interface Settled extends Verdict {
  readonly books: Books;
  /** How many events are in each state of delivery. */
  readonly states: ReadonlyMap<ListedEvent["delivery"], number>;
}

/** Leases, rests and the first steps of the schedule are over by then, and the API has asked for what it has missed. */
const BOOKED_WITHIN_MS = 240_000;
/** What failed several times waits longer; by then it is at least booked. */
const DELIVERED_WITHIN_MS = 90_000;

/**
 * Waits until the books are right, as long as they may still become so, and says what is wrong with them then. At the very
 * end each event must have been answered, too, or wait for its next attempt.
 */
export async function settleBooks(scene: {
  readonly nodes: Nodes;
  readonly promises: Promises;
  readonly followers: readonly Follower[];
  readonly isLast: boolean;
}): Promise<Settled> {
  const startedAt = Date.now();
  for (;;) {
    const books = await readBooks(scene.nodes);
    const { faults: bookFaults, ...counts } = compareBooks(scene.promises, books, scene.followers);
    const faults = [...bookFaults, ...compareWire(books, scene.nodes.arrivals)];
    const states = statesOf(books);
    const elapsedMs = Date.now() - startedAt;
    const isDelivered =
      !scene.isLast || states.get("delivered") === books.events.length || elapsedMs > DELIVERED_WITHIN_MS;
    const isOver = counts.paidTwice > 0 || elapsedMs > BOOKED_WITHIN_MS;
    if (isOver || (faults.length === 0 && isDelivered)) {
      return { ...counts, books, states, faults: [...faults, ...(scene.isLast ? stateFaults(states) : [])] };
    }
    await wait(3000);
  }
}

function statesOf({ events }: Books): Map<ListedEvent["delivery"], number> {
  const states = new Map<ListedEvent["delivery"], number>();
  for (const { delivery } of events) states.set(delivery, (states.get(delivery) ?? 0) + 1);
  return states;
}

function stateFaults(states: ReadonlyMap<ListedEvent["delivery"], number>): string[] {
  const wrong = [...states].filter(([state]) => state !== "delivered" && state !== "waiting");
  return wrong.map(([state, number]) => `${number} deliveries are still ${state}`);
}
