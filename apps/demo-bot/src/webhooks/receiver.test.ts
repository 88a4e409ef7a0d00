import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { buffer } from "node:stream/consumers";
import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { WebhookReceiver } from "./receiver.ts";

const token = "ad_the_demo_bots_token";
const body = Buffer.from('{"event":"rewarded","event_id":"evt_1","user_tg_id":"42","code":"abc"}');
const never = new AbortController().signal;

let companion: Server;
let arrived: { headers: IncomingHttpHeaders; body: Buffer }[];
let status: number;
let redelivered: string[];
let troubles: unknown[];
let receiver: WebhookReceiver;

beforeEach(async () => {
  [arrived, status, redelivered, troubles] = [[], 200, [], []];
  companion = createServer(async (request, response) => {
    arrived.push({ headers: request.headers, body: await buffer(request) });
    response.writeHead(status).end("from the companion API");
  });
  await new Promise<void>((resolve) => companion.listen(0, "127.0.0.1", resolve));
  const { port } = z.object({ port: z.int() }).parse(companion.address());
  receiver = new WebhookReceiver({
    token,
    forwardTo: `http://127.0.0.1:${port}/webhooks/ads`,
    now: () => new Date(),
    redeliver: async (eventId) => void redelivered.push(eventId),
    onTrouble: (error) => void troubles.push(error),
  });
});
afterEach(() => {
  companion.closeAllConnections();
  companion.close();
});

function webhook(attempt = 1, key = token) {
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = {
    "content-type": "application/json",
    "x-bot-id": "7",
    "x-signature": sign(body, key),
    host: "127.0.0.1",
    ...signStandardWebhook({ id: "evt_1", timestampSeconds, body, tokens: [key] }),
    "webhook-attempt": String(attempt),
  };
  return { headers, body };
}

test("an accepted webhook reaches the companion API byte for byte, with its signature, and gets its answer", async () => {
  const sent = webhook();
  expect(await receiver.receive(sent, never)).toEqual({ status: 200, body: "from the companion API" });
  expect(arrived[0]?.body.equals(body)).toBe(true);
  expect(arrived[0]?.headers).toMatchObject({ "x-signature": sent.headers["x-signature"], "webhook-id": "evt_1" });
  expect(receiver.received).toMatchObject([{ eventId: "evt_1", attempt: 1, isVerified: true, body: body.toString() }]);
  status = 500;
  expect(await receiver.receive(webhook(2), never)).toMatchObject({ status: 500 });
});

test("a webhook that the bot's token did not sign is refused, and never passed on", async () => {
  expect(await receiver.receive(webhook(1, "ad_another"), never)).toMatchObject({ status: 401 });
  expect(await receiver.receive({ headers: {}, body }, never)).toMatchObject({ status: 401 });
  expect(arrived).toEqual([]);
  expect(receiver.received.map(({ isVerified }) => isVerified)).toEqual([false, false]);
});

test("each way to fail answers so, and passes nothing on", async () => {
  receiver.mode = "answer-500";
  expect(await receiver.receive(webhook(), never)).toMatchObject({ status: 500 });
  receiver.mode = "wrong-token";
  expect(await receiver.receive(webhook(2), never)).toMatchObject({ status: 401 });
  expect(receiver.received.map(({ isVerified }) => isVerified)).toEqual([true, false]);
  receiver.mode = "time-out";
  const closed = new AbortController();
  const answering = receiver.receive(webhook(3), closed.signal);
  await expect.poll(() => receiver.received.length).toBe(3);
  expect(receiver.received[2]?.answer).toBeUndefined();
  closed.abort();
  expect(await answering).toBeUndefined();
  expect(arrived).toEqual([]);
});

test("an event is asked for once more, not again and again, and only if it was accepted", async () => {
  receiver.mode = "send-twice";
  status = 503;
  await receiver.receive(webhook(), never);
  status = 200;
  await receiver.receive(webhook(2), never);
  await receiver.receive(webhook(3), never);
  await expect.poll(() => redelivered).toEqual(["evt_1"]);
  expect(arrived).toHaveLength(3);
});

test("while the companion API is down, the answer is 503, so that the event is sent again", async () => {
  companion.closeAllConnections();
  companion.close();
  expect(await receiver.receive(webhook(), never)).toMatchObject({ status: 503 });
  expect(troubles).toHaveLength(1);
});

test("the latest hundred webhooks are kept", async () => {
  receiver.mode = "answer-500";
  for (let attempt = 1; attempt <= 101; attempt++) await receiver.receive(webhook(attempt), never);
  expect(receiver.received).toHaveLength(100);
  expect(receiver.received.at(-1)).toMatchObject({ attempt: 101 });
});
