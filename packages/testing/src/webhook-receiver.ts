import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { verify, verifyStandardWebhook } from "@intermission/ad-core/signature";

interface ReceivedWebhook {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly received: ReceivedWebhook[];
  /** Of the following answers; 200 at first. */
  status: number;
  close(): Promise<void>;
}

/** A publisher's webhook that keeps what arrives. For tests. */
export async function openWebhookReceiver(): Promise<WebhookReceiver> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    receiver.received.push({ headers: request.headers, body, fields: JSON.parse(body.toString()) });
    response.writeHead(receiver.status).end("answered");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    received: [],
    status: 200,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** Why the headers are not those of the contract for this body; empty if they are. */
export function headerFaults({ headers, body, fields }: ReceivedWebhook, token: string): string[] {
  const checks: Record<string, boolean> = {
    "content-type": headers["content-type"] === "application/json",
    "x-bot-id": headers["x-bot-id"] === fields.bot_id,
    "x-timestamp": Math.abs(Date.parse(String(headers["x-timestamp"])) - Date.now()) < 60_000,
    "x-signature": verify(body, headers["x-signature"], [token]),
    "webhook-id": headers["webhook-id"] === fields.event_id,
    "webhook-signature": verifyStandardWebhook({ headers, body, tokens: [token], now: new Date() }).outcome === "valid",
    "webhook-attempt": /^[1-9][0-9]*$/.test(String(headers["webhook-attempt"])),
  };
  return Object.keys(checks).filter((name) => !checks[name]);
}
