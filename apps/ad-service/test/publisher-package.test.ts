import { type AdEvent, AdsError, createAds, reconcile } from "@intermission/publisher";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClientFixture, openClientFixture } from "./fixtures/client-fixture.ts";
import { openDeliveryFixture } from "./fixtures/delivery-fixture.ts";

/** What publishers install, against the service that it speaks to. */
describe("the publisher's package, with the service", () => {
  let fixture: ClientFixture;
  let ads: ReturnType<typeof createAds>;
  beforeAll(async () => {
    // The key that the delivery fixture seals its tokens with.
    fixture = await openClientFixture({ encryptionKey: Buffer.alloc(32, 7) });
    ads = createAds({ url: fixture.address, token: fixture.bot.token, botId: fixture.bot.botId });
  });
  afterAll(() => fixture.close());

  test("a code is created, created again as the same, and described", async () => {
    const created = await ads.createCode({ userId: "42", reference: "order 7" });
    expect(created.expiresInSeconds).toBeGreaterThan(3500);
    expect(created.miniappUrl).toContain(`/app/${fixture.bot.botId}?code=${created.code}`);
    expect(created.directLink).toMatch(new RegExp(`^http.*/${created.code}$`));
    expect((await ads.createCode({ userId: "42", reference: "order 7" })).code).toBe(created.code);
    expect(await ads.code(created.code)).toMatchObject({ user_tg_id: "42", reference: "order 7", earned: [] });
  });

  test("whether a user could earn is answered with the reason", async () => {
    expect(await ads.availability("42")).toEqual({ isAvailable: false, reason: "no-ad", availableAt: undefined });
  });

  test("a refusal is an error with the service's code", async () => {
    const refused = ads.createCode({ userId: "42", reference: "a\0b" });
    await expect(refused).rejects.toBeInstanceOf(AdsError);
    await expect(refused).rejects.toMatchObject({ status: 400, code: "BAD_REQUEST" });
    await expect(ads.code("unknown")).rejects.toMatchObject({ status: 404, code: "NOT_FOUND" });
    await expect(ads.testWebhook()).rejects.toMatchObject({ status: 409, code: "NO_ENDPOINT" });
  });

  test("while tokens rotate the next one is used where one is refused", async () => {
    const rotating = createAds({
      url: fixture.address,
      token: ["ad_revoked", fixture.bot.token],
      botId: fixture.bot.botId,
    });
    expect((await rotating.createCode({ userId: "43" })).code).toMatch(/^[0-9A-Za-z]{18}$/);
  });

  test("a service that does not answer is reported after a few attempts", async () => {
    let calls = 0;
    const down = createAds({
      url: "http://127.0.0.1:9",
      token: "ad_x",
      botId: "7000000001",
      fetch: async () => {
        calls += 1;
        throw new TypeError("fetch failed");
      },
    });
    await expect(down.createCode({ userId: "42" })).rejects.toMatchObject({ code: "UNREACHABLE", status: undefined });
    expect(calls).toBe(3);
  });

  test("reconciling hands over every event once, page by page, and goes on where it stopped", async () => {
    const bot = await openDeliveryFixture(fixture.database, { webhookUrl: null });
    const client = createAds({ url: fixture.address, token: bot.token, botId: bot.botId });
    const found: AdEvent[] = [];
    let cursor: string | undefined;
    const cursors = {
      read: () => cursor,
      write(next: string | undefined) {
        cursor = next;
      },
    };
    const enqueued: string[] = [];
    // The feed ends before the oldest transaction of the whole server, another test's too.
    const findAll = async () => {
      await reconcile(client, cursors, (event) => void found.push(event));
      return found.map(({ eventId }) => eventId).sort();
    };
    for (const count of [3, 2]) {
      enqueued.push(...(await bot.enqueue(count)));
      await expect.poll(findAll).toEqual(enqueued.toSorted());
    }
    expect(await reconcile(client, cursors, () => {})).toBe(0);
  });
});
