import { clientApiContract } from "@intermission/testing/client-api-contract";
import { expect, test, vi } from "vitest";
import { createAds } from "../create-ads.ts";
import { reconcile } from "../reconcile.ts";
import { webhook } from "../webhook.ts";
import { fakeAdService } from "./fake-ad-service.ts";

clientApiContract("the fake ad service", async (webhookUrl) => {
  const fake = fakeAdService({ webhook: webhookUrl });
  const address = await fake.listen();
  return {
    address,
    botId: fake.botId,
    token: fake.token,
    followLink: async (link) => (await fetch(link, { redirect: "manual" })).status,
    close: () => fake.close(),
  };
});

test("a publisher's test needs no network: code, view, webhook, list of events", async () => {
  const handle = vi.fn();
  const fake = fakeAdService({ tokens: ["ad_new", "ad_old"], webhook: webhook(handle, { tokens: "ad_old" }) });
  const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId, fetch: fake.fetch });
  const { code } = await ads.createCode({ userId: "42", reference: "order 7" });
  // X-Signature is the new token's, which this receiver does not know yet.
  expect(await fake.earn(code)).toMatchObject({ outcome: "earned", isDelivered: false });
  fake.setWebhook(webhook(handle, { tokens: ["ad_old", "ad_new"] }));
  await fake.sendWaiting();
  await fake.sendWaiting();
  expect(handle.mock.calls).toMatchObject([[{ event: "rewarded", userId: "42", code, reference: "order 7" }]]);
  expect(await fake.earn(code)).toEqual({ outcome: "already-earned" });
  expect(await fake.earn("unknown")).toEqual({ outcome: "unknown-code" });
  const listed = vi.fn();
  expect(await reconcile(ads, { read: () => undefined, write: () => {} }, listed)).toBe(1);
  expect(listed).toHaveBeenCalledWith(expect.objectContaining({ code, delivery: "delivered" }));
});

test("a launch's startapp value arrives with the webhook, the code and the list of events", async () => {
  const handle = vi.fn();
  const fake = fakeAdService({ webhook: webhook(handle, { tokens: "ad_test" }) });
  const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId, fetch: fake.fetch });
  const { code } = await ads.createCode({ userId: "42" });
  await fake.earn(code, "rewarded", { startParam: "ref_7", clientNote: "level 7" });
  await fake.earn(code, "direct_link");
  expect(handle.mock.calls).toMatchObject([
    [{ code, startParam: "ref_7", clientNote: "level 7" }],
    [{ code, startParam: undefined }],
  ]);
  expect(await ads.code(code)).toMatchObject({ start_param: "ref_7" });
  expect((await ads.events()).events).toMatchObject([{ startParam: "ref_7" }, { startParam: undefined }]);
});

test("a code and the availability name the rewards that the test sets", async () => {
  const rewards = { rewarded: { amount: 10, unit: { en: { one: "coin", other: "coins" } } } };
  const fake = fakeAdService({ rewards });
  const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId, fetch: fake.fetch });
  expect((await ads.createCode({ userId: "42" })).rewards).toEqual(rewards);
  expect((await ads.availability("42")).rewards).toEqual(rewards);
});

test("refusals, availability and time are the test's to decide", async () => {
  let now = new Date("2026-01-01T00:00:00Z");
  const fake = fakeAdService({ now: () => now });
  const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId, fetch: fake.fetch });
  fake.refuseNext({ status: 429, code: "TOO_MANY_REQUESTS", retryAfterSeconds: 60 });
  await expect(ads.createCode({ userId: "42" })).rejects.toMatchObject({ status: 429, retryAfterSeconds: 60 });
  fake.setAvailability({ available: false, reason: "cooldown", available_at: "2026-01-01T01:00:00Z" });
  expect(await ads.availability("42")).toEqual({
    isAvailable: false,
    reason: "cooldown",
    availableAt: "2026-01-01T01:00:00Z",
  });
  const { code } = await ads.createCode({ userId: "42" });
  now = new Date("2026-01-01T00:44:59Z");
  expect((await ads.createCode({ userId: "42" })).code).toBe(code);
  now = new Date("2026-01-01T00:45:01Z");
  expect((await ads.createCode({ userId: "42" })).code).not.toBe(code);
  now = new Date("2026-01-01T01:05:00Z");
  expect(await fake.earn(code, "direct_link")).toEqual({ outcome: "expired" });
  expect(await fake.earn(code, "rewarded"), "a view that began in time").toMatchObject({ outcome: "earned" });
});
