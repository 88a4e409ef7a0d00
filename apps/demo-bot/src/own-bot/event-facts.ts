import type { Ads, ListedEvent } from "@intermission/publisher";
import type { Facts, ShownWebhook } from "../what-happened/facts.ts";

const pageSize = 200;
const mostShown = 10;

/** What the panel shows of a bot of one's own: its latest events, and whether its webhook received them. */
export function eventFacts(ads: Pick<Ads, "events">): () => Promise<Facts> {
  // The start of the last page but one: those two pages hold the latest events, whose deliveries change.
  let from: string | undefined;
  return async () => {
    let latest: ListedEvent[] = [];
    for (let after = from; ; ) {
      const page = await ads.events({ after, limit: pageSize });
      latest = [...latest, ...page.events].slice(-mostShown);
      if (!page.hasMore) break;
      from = after;
      after = page.next;
    }
    return { receipts: latest.toReversed().map(shown), balance: null };
  };
}

function shown(listed: ListedEvent): ShownWebhook {
  const { event, eventId, userId, code, reference, startParam, occurredAt, delivery, isTest } = listed;
  return {
    event,
    eventId: eventId ?? null,
    outcome: delivery,
    reason: isTest ? "test" : null,
    receivedAt: occurredAt ?? "",
    rawBody: null,
    signatureHeader: null,
    fields: { user_tg_id: userId, code, event_id: eventId, reference, start_param: startParam },
  };
}
