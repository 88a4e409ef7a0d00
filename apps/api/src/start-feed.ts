import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { testConfig } from "./test-api.ts";

/** What tests share: an ad service's list of events on a real port, which can err in every way. */
export interface Feed {
  readonly url: string;
  /** The list itself: whoever changes it restores a backup. */
  events: object[];
  /** The cursors that were asked for. */
  readonly asked: (string | null)[];
  pageSize: number;
  /** Answers instead of the list. */
  fault: ((after: string | null) => { status: number; body: string } | undefined) | undefined;
  earn(eventId: string, changes?: object): void;
  stop(): Promise<void>;
}

export async function startFeed(): Promise<Feed> {
  const service = createServer((request, response) => {
    const after = new URL(request.url ?? "", "http://service").searchParams.get("after");
    feed.asked.push(after);
    const { status, body } = feed.fault?.(after) ?? { status: 200, body: JSON.stringify(pageAfter(feed, after)) };
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const feed: Feed = {
    url: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    events: [],
    asked: [],
    pageSize: 3,
    fault: undefined,
    earn(eventId, changes = {}) {
      feed.events.push({
        ...{
          event_id: eventId,
          event: "rewarded",
          bot_id: testConfig.botId,
          user_tg_id: "42",
          code: `code_${eventId}`,
        },
        ...{ occurred_at: new Date().toISOString(), delivery: "failed", ...changes },
      });
    },
    async stop() {
      service.closeAllConnections();
      await new Promise((resolve) => service.close(resolve));
    },
  };
  return feed;
}

/** As the ad service does it: a cursor beyond the list's end is answered with an empty page. */
function pageAfter({ events: list, pageSize }: Feed, after: string | null) {
  const from = after === null ? 0 : Number(after.slice("after-".length));
  const events = list.slice(from, from + pageSize);
  const next = events.length === 0 ? (after ?? "after-0") : `after-${from + events.length}`;
  return { events, next, has_more: from + pageSize < list.length };
}
