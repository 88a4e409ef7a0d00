import { listEventsResponse } from "@intermission/ad-core/client-api";
import { statement } from "@intermission/postgres/open-database";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { updateBot } from "../src/bots/change-bot.ts";
import { addCampaign, setCampaignStatus } from "../src/campaigns/change-campaign.ts";
import { newTelegramId } from "./fixtures/app-fixture.ts";
import { bearer, type ClientFixture, codeIn, expectError, openClientFixture } from "./fixtures/client-fixture.ts";

const noon = new Date("2026-03-01T12:00:00.000Z");

describe("what a publisher can read", () => {
  let fixture: ClientFixture;
  beforeAll(async () => {
    fixture = await openClientFixture();
    const campaign = {
      name: "Shop",
      advertiser: "Acme",
      landingUrl: "https://example.com/",
    };
    await addCampaign(fixture.database, { ...campaign, formats: ["direct_link"], campaignId: "cmp_1", now: noon });
    await fixture.campaigns.refresh();
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    fixture.clock.now = noon;
  });

  const sql = (name: string, text: string, values: unknown[]) =>
    fixture.database.run(statement(`test.reads-${name}`, text), values);

  test("a code shows its user, its expiry, what it earned and why visits were refused", async () => {
    const { botId } = fixture.bot;
    const userId = newTelegramId();
    const { code } = await codeIn(await fixture.askFor(userId, { reference: "order-1" }));
    const refusals =
      "insert into click_refusals (bot_id, code, reason, quarter, count) values ($1, $2, 'machine-crawler', $3, 1)";
    await sql("refusals", refusals, [botId, code, noon]);
    await sql(
      "event",
      "insert into events (bot_id, event_id, event, user_id, code, occurred_at) values ($1, 'evt_1', 'direct_link', $3, $2, $4)",
      [botId, code, userId, noon],
    );
    fixture.clock.now = new Date("2026-03-01T13:00:00.000Z");
    expect(await (await fixture.get(`/codes/${code}`)).json()).toEqual({
      code,
      bot_id: botId,
      user_tg_id: userId,
      reference: "order-1",
      issued_at: "2026-03-01T12:00:00.000Z",
      expires_at: "2026-03-01T13:00:00.000Z",
      is_expired: true,
      earned: [{ event: "direct_link", event_id: "evt_1", occurred_at: "2026-03-01T12:00:00.000Z" }],
      can_earn: [],
      pay_per_code: "once",
      sessions: [],
      clicks: { counted: 1, "machine-crawler": 1 },
      requests: {},
    });
  });

  test("a code of another bot, or an unknown code, is 404", async () => {
    const other = await fixture.newBot();
    const { code } = await codeIn(await fixture.askFor(newTelegramId()));
    await expectError(await fixture.get(`/codes/${code}`, bearer(other.token)), 404, "NOT_FOUND");
    await expectError(await fixture.get("/codes/%00"), 404, "NOT_FOUND");
  });

  describe("availability", () => {
    const availability = async (userId: string) => (await fixture.get(`/availability?user_tg_id=${userId}`)).json();
    const earn = (userId: string, times: number, secondsAgo: number) =>
      sql("earn", "insert into viewers values ($1, $2, '2026-03-01', $3, $4)", [
        fixture.bot.botId,
        userId,
        times,
        new Date(noon.getTime() - secondsAgo * 1000),
      ]);

    test("a new user can earn", async () => {
      expect(await availability(newTelegramId())).toEqual({ available: true });
    });

    test("the end of a cooldown is exact to the second", async () => {
      const userId = newTelegramId();
      await earn(userId, 1, 59);
      const availableAt = "2026-03-01T12:00:01.000Z";
      expect(await availability(userId)).toEqual({ available: false, reason: "cooldown", available_at: availableAt });
      fixture.clock.now = new Date(availableAt);
      expect(await availability(userId)).toEqual({ available: true });
    });

    test("the daily cap resets at the end of the UTC day", async () => {
      const userId = newTelegramId();
      await updateBot(fixture.bots, { botId: fixture.bot.botId, settings: { dailyCap: 3 }, now: noon });
      await earn(userId, 3, 3600);
      const availableAt = "2026-03-02T00:00:00.000Z";
      expect(await availability(userId)).toEqual({ available: false, reason: "daily-cap", available_at: availableAt });
      fixture.clock.now = new Date(availableAt);
      expect(await availability(userId)).toEqual({ available: true });
    });

    test("without a running campaign there is no ad", async () => {
      await setCampaignStatus(fixture.database, { campaignId: "cmp_1", status: "paused", by: "operator", now: noon });
      await fixture.campaigns.refresh();
      expect(await availability(newTelegramId())).toEqual({ available: false, reason: "no-ad" });
      await setCampaignStatus(fixture.database, { campaignId: "cmp_1", status: "active", by: "operator", now: noon });
      await fixture.campaigns.refresh();
    });

    test("requires exactly one valid id", async () => {
      await expectError(await fixture.get("/availability"), 400, "BAD_REQUEST");
      await expectError(await fixture.get("/availability?user_tg_id=1&user_tg_id=2"), 400, "BAD_REQUEST");
    });
  });

  test("the feed of events shows a bot its own events, keeps its cursor at the end, and rejects an invented one", async () => {
    const other = await fixture.newBot();
    const first = listEventsResponse.parse(await (await fixture.get("/events", bearer(other.token))).json());
    expect(first).toMatchObject({ events: [], has_more: false });
    expect(await (await fixture.get(`/events?after=${first.next}`, bearer(other.token))).json()).toEqual(first);
    expect(await (await fixture.get("/events?latest=5", bearer(other.token))).json()).toEqual(first);
    await expectError(await fixture.get("/events?after=nonsense!"), 400, "BAD_REQUEST");
    await expectError(await fixture.get("/events?limit=0"), 400, "BAD_REQUEST");
  });

  test("the OpenAPI document is public and describes each path", async () => {
    const document: unknown = await (await fixture.get("/openapi.json", {})).json();
    const requestSchema = {
      required: ["bot_id", "user_tg_id"],
      properties: { user_tg_id: { type: "string", pattern: "^[1-9][0-9]{0,19}$" } },
    };
    const reference = { $ref: "#/components/schemas/CreateCodeRequest" };
    expect(document).toMatchObject({
      components: { schemas: { CreateCodeRequest: requestSchema } },
      openapi: expect.stringMatching(/^3\.1\./),
      paths: {
        "/codes": { post: { requestBody: { content: { "application/json": { schema: reference } } } } },
        "/codes/{code}": { get: {} },
        "/availability": { get: {} },
        "/events": { get: {} },
      },
    });
  });
});
