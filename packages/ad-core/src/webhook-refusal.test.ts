import { describe, expect, test } from "vitest";
import { judgeAge, judgeStandardHeaders, possibleOriginals } from "./explain-refusal.ts";
import { encodeWebhookEvent, type OutgoingWebhookEvent, webhookFieldOrder } from "./outgoing-webhook.ts";
import { webhookEvent } from "./webhook-event.ts";
import { describeRefusal, refusalBody, refusalOfAnswer, type WebhookRefusal } from "./webhook-refusal.ts";

const all: WebhookRefusal[] = [
  { fault: "missing-signature" },
  { fault: "malformed-signature" },
  { fault: "wrong-signature", cause: "unknown" },
  { fault: "wrong-signature", cause: "changed-body" },
  { fault: "wrong-signature", cause: "empty-body" },
  { fault: "wrong-signature", cause: "no-token" },
  { fault: "wrong-signature", cause: "another-token" },
  { fault: "wrong-signature", cause: "padded-token" },
  { fault: "wrong-webhook-signature", cause: "no-headers" },
  { fault: "wrong-webhook-signature", cause: "milliseconds" },
  { fault: "wrong-webhook-signature", cause: "mismatch" },
  { fault: "wrong-webhook-signature", cause: "missing-header", header: "webhook-id" },
  { fault: "wrong-webhook-signature", cause: "malformed-header", header: "webhook-timestamp" },
  { fault: "stale", seconds: 601 },
  { fault: "future", seconds: 86_400 },
];

test("each refusal has a sentence of its own, and is read back from a receiver's answer, FastAPI's too", () => {
  expect(new Set(all.map((refusal) => describeRefusal(refusal))).size).toBe(all.length);
  for (const refusal of all) {
    const body = refusalBody(refusal) as { error: unknown };
    expect(refusalOfAnswer(JSON.stringify(body))).toEqual(refusal);
    expect(refusalOfAnswer(JSON.stringify({ detail: body.error }))).toEqual(refusal);
  }
});

test.each([
  "",
  "null",
  "7",
  "[]",
  '"stale"',
  "<html>",
  "{}",
  '{"error":null}',
  '{"error":"stale"}',
  '{"error":{"details":7}}',
  ...[{ fault: "stale" }, { fault: "stale", seconds: "601" }, { fault: "stale", seconds: 1e300 }].map(answerOf),
  ...[{ fault: "wrong-signature" }, { fault: "wrong-signature", cause: "toString" }, { fault: "constructor" }].map(
    answerOf,
  ),
  answerOf({ fault: "wrong-webhook-signature", cause: "missing-header", header: "<b>" }),
])("nothing is read from the answer %s", (text) => {
  expect(refusalOfAnswer(text)).toBeUndefined();
});

function answerOf(details: object): string {
  return JSON.stringify({ error: { code: "BAD_SIGNATURE", message: "", details } });
}

test("the seconds and whose clock it is are named", () => {
  expect(describeRefusal({ fault: "stale", seconds: 601 })).toContain("601 s ago by the clock of this machine");
  expect(describeRefusal({ fault: "future", seconds: 601 }, "the receiver")).toContain(
    "601 s in the future by the clock of the receiver",
  );
  expect(judgeAge(600.4)).toEqual({ fault: "stale", seconds: 600 });
  expect(judgeAge(-300.6)).toEqual({ fault: "future", seconds: 301 });
});

test("headers of any type are judged", () => {
  for (const value of [["a", "b"], 7, null, "\n"])
    expect(judgeStandardHeaders({ "webhook-id": value, "webhook-timestamp": "5", "webhook-signature": "v1," })).toEqual(
      {
        fault: "wrong-webhook-signature",
        cause: "malformed-header",
        header: "webhook-id",
      },
    );
});

describe("the bodies that a changed one may have been", () => {
  test("are at most five, and never the body itself", () => {
    const texts = [
      '{"b":1,"event":"x"}',
      ' {"event": "caf\u00c3\u00a9"}\n',
      "[1]",
      "x",
      "\u{feff}",
      "QUJDREVGR0hJSktMTU5PUFFSU1Q=",
    ];
    for (const text of texts) {
      const body = new TextEncoder().encode(text);
      const originals = possibleOriginals(body).map((bytes) =>
        new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
      );
      expect(originals.length).toBeLessThanOrEqual(5);
      expect(originals).not.toContain(text);
    }
  });

  test("are the bytes that were sent, for an event with every field whose keys were sorted", () => {
    const values: OutgoingWebhookEvent = {
      event: "rewarded",
      event_id: "evt_01993a1c-7a10-7000-8000-000000000001",
      bot_id: "7000000001",
      user_tg_id: "42",
      code: "Zx7aQ2mN8pRt3vWk",
      reference: "Bestellung №7",
      start_param: "ref_7",
      client_note: "level 7 · 🎁",
      occurred_at: "2026-01-02T03:09:41.000Z",
      revenue_micros: 1750,
      currency: "EUR",
      test: true,
    };
    const event = { ...Object.fromEntries(webhookFieldOrder.map((name) => [name, `some ${name}`])), ...values };
    expect(Object.keys(event).sort()).toEqual(Object.keys(webhookEvent.shape).sort());
    const sorted = JSON.stringify(Object.fromEntries(Object.entries(event).sort()));
    const originals = possibleOriginals(new TextEncoder().encode(sorted));
    expect(originals.map((bytes) => new TextDecoder().decode(bytes))).toContain(encodeWebhookEvent(event));
  });

  test.each<[string, Uint8Array]>([
    ["an empty body", new Uint8Array()],
    ["more than a webhook has", new TextEncoder().encode(` ${"x".repeat(20_000)}`)],
    ["bytes that are not text", Uint8Array.from([0xff, 0xfe, 0x00])],
  ])("are not searched, or cause no error, for %s", (_what, body) => {
    expect(possibleOriginals(body).length).toBeLessThanOrEqual(1);
  });
});
