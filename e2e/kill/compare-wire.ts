import type { Records } from "./read-records.ts";
import type { Arrival } from "./watch-webhooks.ts";

/**
 * Holds what passed between the parties against their records. A 2xx before the commit and a delivery that was never made
 * leave no gap in the ledger, as long as the API asks for what it has missed; here they are seen.
 */
export function compareWire({ events, entries }: Records, arrivals: ReadonlyMap<string, Arrival>): string[] {
  const recordedAt = new Map(entries.map(({ eventId, recordedAt }) => [eventId, Date.parse(recordedAt)]));
  return events.flatMap(({ event_id: eventId, delivery }) => {
    const answeredAt = arrivals.get(eventId)?.answeredAt;
    if (answeredAt === undefined) {
      return delivery === "delivered" ? [`${eventId} counts as delivered, and was never answered 2xx`] : [];
    }
    const recorded = recordedAt.get(eventId) ?? Number.POSITIVE_INFINITY;
    return recorded <= answeredAt ? [] : [`${eventId} was answered 2xx before it was in the ledger`];
  });
}
