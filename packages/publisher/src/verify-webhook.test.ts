import { sign } from "@intermission/ad-core/signature";
import { body, genuine, randomCases, receiverCases, token } from "@intermission/testing/receiver-cases";
import { describe, expect, test } from "vitest";
import { verifyWebhook } from "./verify-webhook.ts";

const now = new Date(1_767_323_381_000);

test.each(receiverCases)("a webhook %s is %s", async (_name, expected, webhook) => {
  const { headers, body: sent = body, tokens = [token], at } = webhook;
  const { outcome } = await verifyWebhook(sent, headers, tokens, { now: at === undefined ? now : new Date(at * 1000) });
  expect(outcome === "not-signed" ? "refused" : "genuine").toBe(expected);
});

test("1000 webhooks that were changed at random get the verdict that is right", async () => {
  for (const [name, expected, { headers, body: sent = body, tokens = [token], at = 0 }] of randomCases()) {
    const { outcome } = await verifyWebhook(sent, headers, tokens, { now: new Date(at * 1000) });
    expect(outcome === "not-signed" ? "refused" : "genuine", name).toBe(expected);
  }
});

test("headers may have any letter case, and come from any implementation of Headers", async () => {
  const usual = Object.fromEntries(Object.entries(genuine).map(([name, value]) => [name.toUpperCase(), value]));
  const foreign = { get: (name: string) => new Headers(genuine).get(name) };
  for (const headers of [usual, foreign])
    expect(await verifyWebhook(body, headers, token, { now })).toMatchObject({ outcome: "verified" });
  const twice = { ...genuine, ...usual };
  expect(await verifyWebhook(body, twice, token, { now })).toEqual({ outcome: "not-signed" });
});

test("an unset token verifies nothing", async () => {
  const unset = undefined as unknown as string;
  expect(await verifyWebhook(body, genuine, unset, { now })).toEqual({ outcome: "not-signed" });
});

describe("the event", () => {
  test("is read with all that the service sends, from bytes, text and Headers alike", async () => {
    const event = {
      outcome: "verified",
      event: expect.objectContaining({ eventId: "evt_1", userId: "42", isTest: false }),
    };
    expect(await verifyWebhook(body, genuine, token, { now })).toMatchObject(event);
    expect(await verifyWebhook(body.toString(), new Headers(genuine), [token], { now })).toMatchObject(event);
  });

  test.each([
    ['{"event":"rewarded","user_tg_id":"0","event_id":"evt_1"}', { isTest: true }],
    [
      '{"event":"direct_link","user_tg_id":"7","test":true}',
      { isTest: true, event: "direct_link", eventId: undefined },
    ],
    ['{"event":"rewarded","user_tg_id":"7","new_field":{}}', { isTest: false, userId: "7" }],
  ])("of %s is %j", async (text, expected) => {
    const headers = { "x-signature": sign(Buffer.from(text), token) };
    const verified = await verifyWebhook(text, headers, token, { isTimestampOptional: true });
    expect(verified).toMatchObject({ outcome: "verified", event: expected });
  });

  test.each(["", "{", "null", "[]", '{"event":"other","user_tg_id":"7"}', '{"event":"rewarded","user_tg_id":7}'])(
    "is not read from %s",
    async (text) => {
      const headers = { "x-signature": sign(Buffer.from(text), token) };
      const verified = await verifyWebhook(text, headers, token, { isTimestampOptional: true });
      expect(verified).toEqual({ outcome: "malformed" });
    },
  );
});

test("a webhook without a timestamp is refused unless the receiver allows it, and a wrong one is refused even then", async () => {
  const headers = { "x-signature": genuine["x-signature"] };
  expect(await verifyWebhook(body, headers, token, { now })).toEqual({ outcome: "not-signed" });
  expect(await verifyWebhook(body, headers, token, { now, isTimestampOptional: true })).toMatchObject({
    outcome: "verified",
  });
  const stale = { ...genuine, "webhook-timestamp": "5" };
  expect(await verifyWebhook(body, stale, token, { now, isTimestampOptional: true })).toEqual({
    outcome: "not-signed",
  });
});
