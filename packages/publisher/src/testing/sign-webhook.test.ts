import { verifyInitDataWithBotToken } from "@intermission/ad-core/telegram-init-data";
import { expect, test } from "vitest";
import { verifyWebhook } from "../verify-webhook.ts";
import { signLaunch } from "./sign-launch.ts";
import { signWebhook } from "./sign-webhook.ts";

test("a signed webhook is verified with its fields, and refused with another token or after five minutes", async () => {
  const now = new Date("2026-01-02T03:04:05Z");
  const facts = {
    userId: "42",
    eventId: "evt_1",
    code: "ABCD",
    reference: "order 7",
    startParam: "ref_7",
    clientNote: "level 7",
  };
  const event = { ...facts, revenueMicros: 1750, currency: "EUR" };
  const { headers, body } = signWebhook(event, ["ad_new", "ad_old"], { now });
  expect(await verifyWebhook(body, headers, "ad_new", { now })).toEqual({
    outcome: "verified",
    event: { ...event, event: "rewarded", botId: "7000000001", occurredAt: now.toISOString(), isTest: false },
  });
  expect(await verifyWebhook(body, headers, "ad_other", { now })).toMatchObject({ outcome: "not-signed" });
  const later = new Date(now.getTime() + 301_000);
  expect(await verifyWebhook(body, headers, "ad_new", { now: later })).toMatchObject({
    outcome: "not-signed",
    refusal: { fault: "stale", seconds: 301 },
  });
  const test = signWebhook({ userId: "0", event: "direct_link", isTest: true }, "ad_new", { now });
  expect(await verifyWebhook(test.body, test.headers, "ad_new", { now })).toMatchObject({
    event: { event: "direct_link", isTest: true, eventId: expect.stringMatching(/^evt_/) },
  });
});

test("ids may be numbers, as Telegram sends them; the wire has digits", async () => {
  const { headers, body } = signWebhook({ userId: 42, botId: 7000000001 }, "ad_new");
  expect(await verifyWebhook(body, headers, { 7000000001: "ad_new" })).toMatchObject({
    outcome: "verified",
    event: { userId: "42", botId: "7000000001" },
  });
});

test("launch data is verified with the bot's token, and only with it", () => {
  const now = new Date("2026-01-02T03:04:05Z");
  const botToken = "7000000001:secret";
  const initData = signLaunch({ userId: "42", botToken, startParam: "ABCD", languageCode: "de", now });
  expect(verifyInitDataWithBotToken({ initData, botToken, now })).toMatchObject({
    outcome: "valid",
    startParam: "ABCD",
    user: { id: "42", languageCode: "de" },
  });
  expect(verifyInitDataWithBotToken({ initData, botToken: "7000000001:other", now })).toMatchObject({
    reason: "wrong-signature",
  });
});
