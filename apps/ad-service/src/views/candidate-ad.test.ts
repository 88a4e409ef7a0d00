import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openViewFixture, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { findBot } from "../bots/bots.ts";
import { migrations } from "../migrations.ts";
import { adRows, findCandidateAd } from "./find-ad.ts";
import { viewPlayerRoutes } from "./player-routes.ts";

const insertMore = `
  with made as (select i, 'more' || i as id from generate_series(1, 4) as i),
  creative as (
    insert into creatives
      (creative_id, kind, file_name, media_type, byte_length, duration_ms, width, height, created_at)
    select 'cre_' || id, 'file', id || '.mp4', 'video/mp4', 1000, 10000, 320, 180, now() from made on conflict do nothing
  ),
  campaign as (
    insert into campaigns (campaign_id, name, advertiser_id, formats, status, priority, weight, landing_url, created_at, updated_at)
    select 'cmp_' || id, id, advertiser_id, '{rewarded}', 'active', priority, i, landing_url, now(), now()
    from made cross join (select * from campaigns limit 1) as first on conflict do nothing
  )
  insert into campaign_creatives (campaign_id, creative_id) select 'cmp_' || id, 'cre_' || id from made on conflict do nothing`;

describe("the ad that the mini-app's page loads ahead", () => {
  let store: TestDatabase;
  let fixture: ViewFixture;
  let ads: ReturnType<typeof adRows>;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openViewFixture(store.database, viewPlayerRoutes);
    await store.database.run({ name: "", text: insertMore }, []);
    await fixture.campaigns.refresh();
    ads = adRows(store.database);
  });
  afterEach(() => fixture.close());

  async function candidate(code: string) {
    const bot = await findBot(fixture.bots, fixture.botId);
    if (!bot) throw new Error("the fixture's bot is gone");
    const deps = { campaigns: fixture.campaigns, ads, publicUrl: "http://ads.test" };
    return findCandidateAd(deps, { bot, code, headers: {}, now: fixture.clock.now });
  }

  const counts = async () => {
    const text = `select (select count(*) from ad_requests) as requests, (select count(*) from views) as views,
      (select count(*) from codes) as codes`;
    return store.database.run({ name: "", text }, []);
  };

  test("is the one that the opening of the code shows, for each code, and all campaigns get their turn", async () => {
    const shown = new Set<unknown>();
    for (let user = 1; user <= 40; user++) {
      const code = await fixture.issue(String(user));
      const before = await counts();
      const candidateAd = await candidate(code);
      expect(await counts()).toEqual(before);
      const { body } = await fixture.open(String(user), code);
      expect(body).toMatchObject({ outcome: "session", ad: { media_url: candidateAd?.url } });
      shown.add(candidateAd?.url);
    }
    expect(shown.size).toBeGreaterThan(2);
  });

  test("says nothing about a code: one that does not exist has an ad, too, and text that is no code has none", async () => {
    expect(await candidate("2".repeat(18))).toBeDefined();
    for (const text of ["", "x", "2".repeat(19), '2222222222222"><b']) expect(await candidate(text)).toBeUndefined();
  });
});
