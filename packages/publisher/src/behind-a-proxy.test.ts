// @module-tag long
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import type { AdsError } from "./ads-error.ts";
import { type Ads, createAds } from "./create-ads.ts";
import { type Companion, type CompanionError, createCompanion } from "./create-companion.ts";

const stops: (() => unknown)[] = [];
afterAll(async () => {
  for (const stop of stops.splice(0)) await stop();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const page = "<!DOCTYPE html><html><title>Bad gateway</title><h1>nginx</h1></html>";
const pageOf =
  (status: number, text = page): Answer =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": "text/html" }).end(text);
const json =
  (status: number, body: unknown): Answer =>
  (_request, response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
const dropped: Answer = (request) => request.socket.destroy();

/** A server on a real port: the n-th request is answered by the n-th function, and all further ones by the last. */
async function serve(...answers: Answer[]) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    answers[Math.min(requests, answers.length) - 1]?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `http://${host}`;
  return {
    host,
    requests: () => requests,
    ads: createAds({ url, token: "ad_test", botId: "7000000001" }),
    companion: createCompanion({ url, apiKey: "key" }),
  };
}
type Served = Awaited<ReturnType<typeof serve>>;

const code = { code: "ABCDEFGHJKMNPQRSTU", expires_in: 3600, expires_at: "2026-01-02T04:04:05Z" };
const busy = { error: { code: "UNAVAILABLE", message: "try again later" } };

const calls: [string, Answer, (served: Served) => Promise<unknown>][] = [
  ["a code", json(200, code), ({ ads }) => ads.createCode({ userId: "42" })],
  ["a page of events", json(200, { events: [], next: "n", has_more: false }), ({ ads }) => ads.events()],
  [
    "a purchase, which has its key",
    json(200, { result: { data: { outcome: "insufficient", balance: 0 } } }),
    ({ companion }) => companion.spend({ userId: "42", amount: 1, idempotencyKey: "order 7" }),
  ],
];

describe.concurrent.each(calls)("%s", (_what, success, call) => {
  test.each([502, 504, 522, 530])("is requested again after a proxy answered %d", async (status) => {
    const served = await serve(pageOf(status), success);
    await call(served);
    expect(served.requests()).toBe(2);
  });

  test("is requested again after the connection was dropped", async () => {
    const served = await serve(dropped, success);
    await call(served);
    expect(served.requests()).toBe(2);
  });

  test("is requested three times at most, and then the error names the proxy and not its page", async () => {
    const served = await serve(pageOf(502));
    const error = await call(served).catch((reason: AdsError | CompanionError) => reason);
    expect(error).toMatchObject({ status: 502, code: "UNEXPECTED_ANSWER" });
    expect(String(error)).toContain(`502 from a proxy or another server at ${served.host}`);
    expect(String(error)).not.toContain("<");
    expect(served.requests()).toBe(3);
  });

  test.each([
    ["the page of a sign-in or a challenge", pageOf(200)],
    ["a page that says it is JSON", (_request, response) => response.writeHead(200).end(page)],
    ["an empty answer", (_request, response) => response.writeHead(200).end()],
  ] satisfies [string, Answer][])("is not read from a success that is %s", async (_name, answer) => {
    const served = await serve(answer);
    const error = await call(served).catch((reason: AdsError | CompanionError) => reason);
    expect(error).toMatchObject({ status: 200, code: "UNEXPECTED_ANSWER" });
    expect(String(error)).toContain(`at ${served.host}`);
    expect(String(error)).not.toContain("<");
    expect(served.requests()).toBe(1);
  });
});

describe.concurrent.each<[string, (ads: Ads) => Promise<unknown>]>([
  ["a redelivery", (ads) => ads.redeliver("evt_1")],
  ["a test of the webhook", (ads) => ads.testWebhook()],
])("%s", (_what, call) => {
  test.each([
    ["a proxy's 502", pageOf(502)],
    ["a proxy's 503", pageOf(503)],
    ["a lost connection", dropped],
  ] satisfies [string, Answer][])(
    "is not sent twice after %s, since the first may have been carried out",
    async (_name, answer) => {
      const served = await serve(answer);
      await expect(call(served.ads)).rejects.toMatchObject({ name: "AdsError" });
      expect(served.requests()).toBe(1);
    },
  );

  test("is sent again after the ad service itself refused it as busy", async () => {
    const served = await serve(json(503, busy), json(200, { event_id: "evt_1", delivered: true }));
    await call(served.ads);
    expect(served.requests()).toBe(2);
  });
});

test("a watch that a page answers is an error, not an end without entries", async () => {
  const served = await serve(pageOf(200));
  const watch = (companion: Companion) => companion.watchRewards()[Symbol.asyncIterator]().next();
  await expect(watch(served.companion)).rejects.toThrow(`200 from a proxy or another server at ${served.host}`);
});

test("a proxy's 503 that names a wait is waited for", async () => {
  const served = await serve((_request, response) => {
    response.writeHead(503, { "content-type": "text/html", "retry-after": "60" }).end(page);
  });
  await expect(served.companion.balance("42")).rejects.toMatchObject({ status: 503, retryAfterSeconds: 60 });
  expect(served.requests()).toBe(1);
});
