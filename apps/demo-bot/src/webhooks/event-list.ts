import type { Ads, ListedEvent } from "@intermission/publisher";
import type { ShownWebhook } from "./facts.ts";

const PAGE_SIZE = 200;
const MAX_SHOWN = 10;

/** The bot's latest events as the ad service lists them, newest first, and whether its webhook received them. */
export function eventList(ads: Pick<Ads, "events">): () => Promise<readonly ShownWebhook[]> {
  // The start of the last page but one: those two pages hold the latest events, whose deliveries change.
  let from: string | undefined;
  return async () => {
    let latest: ListedEvent[] = [];
    for (let after = from; ; ) {
      const page = await ads.events({ after, limit: PAGE_SIZE });
      latest = [...latest, ...page.events].slice(-MAX_SHOWN);
      if (!page.hasMore) break;
      from = after;
      after = page.next;
    }
    return latest.toReversed().map(shown);
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
    amount: null,
    rawBody: null,
    signatureHeader: null,
    fields: { user_tg_id: userId, code, event_id: eventId, reference, start_param: startParam },
  };
}
