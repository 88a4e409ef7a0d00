import { openSessionResponse, statusResponse } from "@intermission/ad-core/player-api";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openViewFixture, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { addCampaign } from "../campaigns/change-campaign.ts";
import { migrations } from "../migrations.ts";
import { viewPlayerRoutes } from "./player-routes.ts";

const ann = "501";
const insertVideo = `insert into creatives (creative_id, sha256, file_name, media_type, byte_length, duration_ms, width, height)
  values ($1, $1, $2, 'video/mp4', 1000, 10000, 540, 960)`;

describe("what the status says about another ad", () => {
  let store: TestDatabase;
  let fixture: ViewFixture;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openViewFixture(store.database, viewPlayerRoutes);
  });
  afterEach(() => fixture.close());

  const watch = async () => {
    const code = await fixture.issue(ann);
    const view = await fixture.begin(ann, code);
    await fixture.play(view, 0, 10);
    await fixture.report(view, { closed: "tap" });
    return { ...view, code };
  };

  const openAnother = (code: string) => {
    const launch = { bot_id: fixture.botId, init_data: fixture.initData(ann) };
    return fixture.post("/sessions", { ...launch, code, another: true });
  };

  async function sell(name: string) {
    const creativeId = `cre_${fixture.botId}_${name}`;
    await store.database.run({ name: "", text: insertVideo }, [creativeId, `${creativeId}.mp4`]);
    const added = await addCampaign(store.database, {
      campaignId: `cmp_${fixture.botId}_${name}`,
      name,
      advertiser: name,
      formats: ["rewarded"],
      targeting: { bots: [fixture.botId] },
      creativeIds: [creativeId],
      now: fixture.clock.now,
    });
    expect(added.outcome).toBe("added");
    await fixture.campaigns.refresh();
  }

  test("nothing unless it is asked; then that one is available, and no event, view or code is made", async () => {
    const view = await watch();
    const before = [await fixture.events(), await fixture.storedViews()];
    expect((await fixture.status(view)).body).not.toHaveProperty("next_ad");
    const status = statusResponse.parse((await fixture.status(view, { next_ad: true })).body);
    expect(status.next_ad).toMatchObject({ available: true, today: { earned: 1, daily_cap: expect.any(Number) } });
    expect([await fixture.events(), await fixture.storedViews()]).toEqual(before);
  });

  test("the video that opening another ad then chooses, of several, without holding any", async () => {
    for (const name of ["one", "two", "three", "four"]) await sell(name);
    const counts = async () => [await fixture.events(), await fixture.storedViews()];
    const named = new Set<string>();
    for (let round = 0; round < 6; round++) {
      const view = await watch();
      const before = await counts();
      const { next_ad: nextAd } = statusResponse.parse((await fixture.status(view, { next_ad: true })).body);
      expect(await counts()).toEqual(before);
      const opened = openSessionResponse.parse((await openAnother(view.code)).body);
      expect(opened).toMatchObject({ outcome: "session", ad: { media_url: nextAd?.media?.url } });
      named.add(nextAd?.media?.url ?? "");
    }
    expect(named.size).toBeGreaterThan(1);
    const anything = openSessionResponse.parse((await openAnother("no code of this bot")).body);
    expect(anything.outcome).toBe("session");
  });

  test.each([
    { limit: { cooldownSeconds: 90 }, reason: "cooldown", availableAt: "2026-03-01T12:01:40.000Z" },
    { limit: { dailyCap: 1 }, reason: "daily-cap", availableAt: "2026-03-02T00:00:00.000Z" },
  ])("when the $reason ends, by the same rule as opening", async ({ limit, reason, availableAt }) => {
    await fixture.close();
    fixture = await openViewFixture(store.database, viewPlayerRoutes, limit);
    const view = await watch();
    const status = statusResponse.parse((await fixture.status(view, { next_ad: true })).body);
    expect(status.next_ad).toEqual({ available: false, reason, available_at: availableAt });
    const opened = openSessionResponse.parse((await fixture.open(ann)).body);
    expect(opened).toMatchObject({ outcome: "limit-reached", reason, available_at: availableAt });
  });
});
