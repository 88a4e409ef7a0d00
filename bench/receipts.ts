import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import { encodeWebhookEvent } from "@intermission/ad-core/webhook-event";
import type { BenchStack } from "./bench-stack.ts";
import type { LoadPath } from "./load.ts";

/** Each receipt is another event of another user: verified, deduped, booked. */
export async function receiveWebhooks(stack: BenchStack, count: number, round: number): Promise<LoadPath> {
  const token = stack.secrets.adApiToken ?? "";
  const requests = Array.from({ length: count }, (_, index) => {
    const eventId = `evt_0199${String(round).padStart(4, "0")}-0000-7000-8000-${index.toString(16).padStart(12, "0")}`;
    const now = new Date();
    const text = encodeWebhookEvent({
      event: "rewarded",
      event_id: eventId,
      bot_id: stack.secrets.botId,
      user_tg_id: String(50_000_000 + round * 1_000_000 + index),
      code: `bench${round}x${index}`,
      occurred_at: now.toISOString(),
    });
    const body = new TextEncoder().encode(text);
    return {
      method: "POST" as const,
      path: "/webhooks/ads",
      headers: {
        "content-type": "application/json",
        "x-bot-id": stack.secrets.botId,
        "x-timestamp": now.toISOString(),
        "x-signature": sign(body, token),
        ...signStandardWebhook({
          id: eventId,
          timestampSeconds: Math.floor(now.getTime() / 1000),
          body,
          tokens: [token],
        }),
      },
      body: text,
    };
  });
  const requestOf = (index: number) => {
    const request = requests[index];
    if (request === undefined) throw new Error(`no request ${index}`);
    return request;
  };
  return { origin: stack.urls.api, status: 200, requestOf };
}
