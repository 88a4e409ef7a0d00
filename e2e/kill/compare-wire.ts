import type { Books } from "./read-books.ts";
import type { Arrival } from "./watch-webhooks.ts";

/**
 * Holds what passed between the parties against their books. A 2xx before the commit and a delivery that was never made
 * leave no gap in the ledger, as long as the API asks for what it has missed; here they are seen.
 */
export function compareWire({ events, entries }: Books, arrivals: ReadonlyMap<string, Arrival>): string[] {
  const bookedAt = new Map(entries.map(({ eventId, bookedAt }) => [eventId, Date.parse(bookedAt)]));
  return events.flatMap(({ event_id: eventId, delivery }) => {
    const answeredAt = arrivals.get(eventId)?.answeredAt;
    if (answeredAt === undefined) {
      return delivery === "delivered" ? [`${eventId} counts as delivered, and was never answered 2xx`] : [];
    }
    const booked = bookedAt.get(eventId) ?? Number.POSITIVE_INFINITY;
    return booked <= answeredAt ? [] : [`${eventId} was answered 2xx before it was in the ledger`];
  });
}
