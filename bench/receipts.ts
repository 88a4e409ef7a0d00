import { encodeWebhookEvent } from "@intermission/ad-core/outgoing-webhook";
import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import type { Target } from "./bench-stack.ts";
import { type Measure, newUsers } from "./clicks.ts";

let events = 0;

/** Measures receipts, each of a new event of a new user: verified, deduped, recorded. */
export async function measureReceipts({ urls, bot }: Target, count: number, measure: Measure): Promise<void> {
  const { botId, token } = bot;
  const requests = newUsers(count).map((userId) => {
    events += 1;
    const eventId = `evt_01990000-0000-7000-8000-${events.toString(16).padStart(12, "0")}`;
    const now = new Date();
    const text = encodeWebhookEvent({
      event: "rewarded",
      event_id: eventId,
      bot_id: botId,
      user_tg_id: userId,
      code: `bench${userId}`,
      occurred_at: now.toISOString(),
    });
    const body = new TextEncoder().encode(text);
    const timestampSeconds = Math.floor(now.getTime() / 1000);
    return {
      method: "POST" as const,
      path: "/webhooks/ads",
      body: text,
      headers: {
        "content-type": "application/json",
        "x-bot-id": botId,
        "x-timestamp": now.toISOString(),
        "x-signature": sign(body, token),
        ...signStandardWebhook({ id: eventId, timestampSeconds, body, tokens: [token] }),
      },
    };
  });
  await measure("receipt", { url: urls.api, status: 200, requests });
}
