import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeWebhookEvent } from "./outgoing-webhook.ts";
import { parseWebhookEvent } from "./webhook-event.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const event = {
  event: "rewarded" as const,
  event_id: "evt_01990000-0000-7000-8000-000000000001",
  bot_id: "7000000001",
  user_tg_id: "42",
  code: "ABCDEFGHJKLMNPQRST",
  occurred_at: "2026-01-02T03:04:05.678Z",
};

test("an encoded event is parsed back unchanged, with any reference", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }), (reference) => {
      const sent = { ...event, reference };
      expect(parseWebhookEvent(utf8(encodeWebhookEvent(sent)))).toEqual({ outcome: "valid", event: sent });
    }),
  );
});

test("a startapp value is part of the event; one that Telegram does not allow is left out, and loses no event", () => {
  const sent = { ...event, start_param: "ref_7-A" };
  expect(encodeWebhookEvent(sent)).toContain('"start_param":"ref_7-A"');
  expect(parseWebhookEvent(utf8(encodeWebhookEvent(sent)))).toEqual({ outcome: "valid", event: sent });
  for (const start_param of ["", "a b", "x".repeat(513), 7, null, {}]) {
    const parsed = parseWebhookEvent(utf8(JSON.stringify({ ...event, start_param })));
    expect(parsed).toEqual({ outcome: "valid", event });
  }
});

test("an event with only the two guaranteed fields is valid, and unknown fields are ignored", () => {
  const parsed = parseWebhookEvent(utf8('{"event":"direct_link","user_tg_id":"42","colour":"red"}'));
  expect(parsed).toEqual({ outcome: "valid", event: { event: "direct_link", user_tg_id: "42" } });
});

test.each([
  ["not-utf8", new Uint8Array([0x7b, 0xff, 0x7d])],
  ["not-json", utf8("")],
  ["not-json", utf8('\ufeff{"event":"rewarded","user_tg_id":"42"}')],
  ["wrong-shape", utf8("null")],
  ["wrong-shape", utf8('{"event":"rewarded","user_tg_id":42}')],
  ["wrong-shape", utf8('{"event":"watched","user_tg_id":"42"}')],
  ["wrong-shape", utf8('{"event":"rewarded","user_tg_id":"042"}')],
  ["wrong-shape", utf8('{"event":"rewarded"}')],
])("bytes are refused with the reason %s", (reason, bytes) => {
  expect(parseWebhookEvent(bytes)).toMatchObject({ outcome: "invalid", reason });
});

test.each([
  "2026-01-31T08:00:00+00:00",
  "2026-01-31t08:00:00z",
  "1970-01-01T00:00:00Z",
  "2026-01-31T08:00:00.123456789-00:00",
])("an event of %s is not lost", (occurredAt) => {
  const body = utf8(JSON.stringify({ event: "rewarded", user_tg_id: "42", occurred_at: occurredAt }));
  expect(parseWebhookEvent(body)).toMatchObject({ outcome: "valid", event: { occurred_at: occurredAt } });
});

test("a number as user is named with what it must be", () => {
  expect(parseWebhookEvent(utf8('{"event":"rewarded","user_tg_id":42}'))).toMatchObject({
    message: "user_tg_id: must be a string of digits, in quotes",
  });
});

test("no bytes make it throw", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(["valid", "invalid"]).toContain(parseWebhookEvent(bytes).outcome);
    }),
  );
});
