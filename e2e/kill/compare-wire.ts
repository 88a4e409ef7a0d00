import type { Records } from "./read-records.ts";
import type { Arrival } from "./watch-webhooks.ts";

/**
 * Compares the traffic between the parties with their records. A 2xx before the commit, or a delivery that was never made,
 * leaves no gap in the ledger because the API fetches missed events later; this check detects both.
 */
export function compareWire({ events, entries }: Records, arrivals: ReadonlyMap<string, Arrival>): string[] {
  const recordedAt = new Map(entries.map(({ eventId, recordedAt }) => [eventId, Date.parse(recordedAt)]));
  return events.flatMap(({ event_id: eventId, delivery }) => {
    const answeredAt = arrivals.get(eventId)?.answeredAt;
    if (answeredAt === undefined) {
      return delivery === "delivered" ? [`${eventId} counts as delivered, but was never answered 2xx`] : [];
    }
    const recorded = recordedAt.get(eventId) ?? Number.POSITIVE_INFINITY;
    return recorded <= answeredAt ? [] : [`${eventId} was answered 2xx before it was in the ledger`];
  });
}
