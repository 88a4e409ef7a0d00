import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { usualBuyer } from "@intermission/operator-api/buyers";
import { secretBox } from "@intermission/server/secret-box";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openBuyer } from "../../../examples/buyer.ts";
import { addBuyer, updateBuyer } from "../src/buyers/buyers.ts";
import { migrations } from "../src/migrations.ts";
import { countTry, readSources, recordsOf, storeTries } from "../src/offers/source-records.ts";
import { openVastFixture } from "./fixtures/vast-fixture.ts";

const vast = (
  self: string,
  name: string,
) => `<VAST version="4.0"><Ad id="1"><InLine><AdSystem>Test</AdSystem><AdTitle>${name}</AdTitle>
  <Advertiser>${name}</Advertiser><Impression>${self}/impression</Impression><Creatives><Creative><Linear><Duration>00:00:10</Duration>
  <MediaFiles><MediaFile delivery="progressive" type="video/mp4" width="640" height="360">${self}/ad.mp4</MediaFile></MediaFiles>
  </Linear></Creative></Creatives></InLine></Ad></VAST>`;

const box = secretBox(randomBytes(32));

describe("the order of VAST tags", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openVastFixture>>;
  const requested: string[] = [];
  /** The tags that have no ad. */
  const empty = new Set<string>();
  const server = createServer((request, response) => {
    const name = (request.url ?? "/").slice(1);
    requested.push(name);
    response.writeHead(200, { "content-type": "application/xml" });
    response.end(empty.has(name) ? '<VAST version="4.0"/>' : vast(address(), name));
  });
  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    await ask("insert into deployment (currency) values ('USD')");
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    server.close();
    await store.dispose();
  });
  beforeEach(async () => {
    fixture = await openVastFixture(store.database, {}, box);
    requested.length = 0;
    empty.clear();
  });
  afterEach(async () => {
    await ask("update campaigns set status = 'paused', paused_by = 'operator' where name = 'Tag'");
    await ask("delete from source_tries");
    await ask("delete from source_orders");
    vi.restoreAllMocks();
    await fixture.close();
  });
  const ask = <Row = Record<string, unknown>>(text: string, ...values: unknown[]) =>
    store.database.run<Row>({ name: "", text }, values);
  const tag = (name: string, viewPriceMicros: number) =>
    fixture.sellTag(`${address()}/${name}`, { priority: "standard", viewPriceMicros, pacing: "asap" });
  /** So many ads were offered, and so many of them paid at 1 each. */
  const statistics = (campaignId: string, fills: number, completed: number, spend = completed) =>
    ask(
      `insert into stats_audiences (span, starts_at, bot_id, campaign_id, fills, rewards, spend_micros)
       values ('day', date_trunc('day', $3::timestamptz, 'UTC'), $1, $2, $4, $5, $6)`,
      fixture.botId,
      campaignId,
      fixture.clock.now,
      fills,
      completed,
      spend,
    );
  const record = (campaignId: string, tries: number, fills: number, completed: number, price = 1) => {
    const of = [fixture.botId, campaignId];
    return Promise.all([
      ask(
        `insert into source_tries (bot_id, day, country, campaign_id, tries, fills) values ($1, $5::date, '', $2, $3, $4)`,
        ...of,
        tries,
        fills,
        fixture.clock.now.toISOString().slice(0, 10),
      ),
      statistics(campaignId, fills, completed, completed * price),
    ]);
  };
  const orderByEarnings = () =>
    ask(
      "insert into source_orders values ($1, 'earned', '{}') on conflict (bot_id) do update set mode = 'earned'",
      fixture.botId,
    );
  const read = () => readSources(store.database, fixture.sources, fixture.clock.now);

  test("tags go by what their ads have earned, before an own video that is worth less, and the next one if one has no ad", async () => {
    const [dear, watched, cheap] = [await tag("dear", 9000), await tag("watched", 5000), await tag("cheap", 2000)];
    // Its ads are closed: of 9 for a thousand views, 0.9 come in.
    await record(dear, 1000, 900, 90, 9000);
    await record(watched, 1000, 900, 810, 5000);
    await record(cheap, 1000, 900, 855, 2000);
    await orderByEarnings();
    await read();
    let user = 5000;
    // Never one of the openings in which another tag goes first.
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    for (let opening = 0; opening < 12; opening++) await fixture.begin(String(++user));
    expect(requested).toEqual(Array(12).fill("watched"));
    empty.add("watched");
    requested.length = 0;
    const after = await fixture.begin(String(++user));
    expect(requested.slice(-2)).not.toContain("cheap");
    expect(after).toMatchObject({ ad: { advertiser: expect.stringMatching(/Intermission|dear/) } });
  });

  test("completion counts alike for a tag and for an own video: the dearer one goes first where as many of both are watched", async () => {
    const dearer = await tag("dearer", 3500);
    await ask("update campaigns set view_price_micros = 3000, updated_at = now() where campaign_id = 'cmp_1'");
    await fixture.campaigns.refresh();
    await record(dearer, 1000, 1000, 700, 3500);
    await statistics("cmp_1", 1000, 700);
    await orderByEarnings();
    await read();
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    await fixture.begin("5501");
    expect(requested).toEqual(["dearer"]);
    // Of the video, all are watched: 3 for a thousand, against 2.45.
    await ask("update stats_audiences set rewards = 1000 where campaign_id = 'cmp_1' and bot_id = $1", fixture.botId);
    await read();
    await fixture.begin("5502");
    expect(requested).toEqual(["dearer"]);
  });

  test("a bid that cannot be shown changes what is certain: the tags are planned anew, and none is requested twice", async () => {
    const [low, lower] = [await tag("low", 1500), await tag("lower", 1400)];
    for (const campaignId of [low, lower]) await record(campaignId, 1000, 900, 900, 1);
    await ask("update campaigns set view_price_micros = 1000, updated_at = now() where campaign_id = 'cmp_1'");
    const stand = await openBuyer({ changeBid: (bid) => ({ ...bid, price: 2, adm: "<VAST" }) });
    const deps = { database: store.database, secretBox: box };
    const settings = { ...usualBuyer, tmaxMs: 800, url: stand.urlOf("bid"), key: null };
    const added = await addBuyer(deps, { ...settings, name: "Broken", now: fixture.clock.now });
    await updateBuyer(deps, { buyerId: added?.buyerId ?? "", change: { isActive: true } });
    onTestFinished(async () => {
      stand.close();
      await ask("update buyers set is_active = false");
    });
    await fixture.campaigns.refresh();
    await orderByEarnings();
    await read();
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    // Neither tag is worth the bid of 2; without it, both are worth more than the video of 1.
    empty.add("low");
    expect(await fixture.begin("5601")).toMatchObject({ ad: { advertiser: "lower" } });
    expect(requested).toEqual(["low", "lower"]);
    const outcomes = await ask<{ source: string; outcome: string }>(
      "select source, outcome from opening_offers where bot_id = $1 order by outcome",
      fixture.botId,
    );
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["broken-markup", "won"]);
  });

  test("an order by hand is kept whatever was earned, and weights draw as before", async () => {
    const [one, two] = [await tag("one", 5000), await tag("two", 9000)];
    await ask("insert into source_orders values ($1, 'fixed', $2)", fixture.botId, [one, two]);
    await read();
    await fixture.begin("6001");
    expect(requested).toEqual(["one"]);
    empty.add("one");
    await fixture.begin("6002");
    expect(requested.slice(1)).toEqual(["one", "two"]);
    await ask("delete from source_orders where bot_id = $1", fixture.botId);
    await read();
    const seen = new Set<string>();
    empty.clear();
    for (let user = 6100; user < 6140 && seen.size < 3; user++) {
      const { ad } = (await fixture.begin(String(user))) as unknown as { ad: { advertiser: string } };
      seen.add(ad.advertiser);
    }
    expect(seen).toEqual(new Set(["one", "two", "Intermission"]));
  });

  test("each request to a tag is counted with its country, on several nodes at once, and none is lost to a fault", async () => {
    const campaignId = await tag("counted", 5000);
    await orderByEarnings();
    await read();
    empty.add("counted");
    await fixture.begin("7001");
    empty.clear();
    await fixture.begin("7002");
    const { botId, sources } = fixture;
    const faulty = { run: () => Promise.reject(new Error("away")) };
    await expect(storeTries(faulty as never, sources)).rejects.toThrow("away");
    const nodes = Array.from({ length: 8 }, () => ({ ...sources, waiting: new Map() }));
    for (const node of nodes) for (const country of ["DE", "AT"]) countTry(node, { botId, country, campaignId }, true);
    await Promise.all([storeTries(store.database, sources), ...nodes.map((node) => storeTries(store.database, node))]);
    await ask("update source_tries set day = $1::date", fixture.clock.now.toISOString().slice(0, 10));
    const of = (country: string | undefined) => recordsOf(store.database, { botId, country, now: fixture.clock.now });
    expect((await of("")).get(campaignId)).toMatchObject({ tries: 2, fills: 1 });
    expect((await of("AT")).get(campaignId)).toMatchObject({ tries: 8, fills: 8 });
    expect((await of(undefined)).get(campaignId)).toMatchObject({ tries: 18, fills: 17 });
  });

  test("a tag without a price is drawn by weight, whatever the order is", async () => {
    await tag("free", 0);
    for (const [from, order] of [
      [6500, undefined],
      [6600, orderByEarnings],
    ] as const) {
      await order?.();
      await read();
      let shown = 0;
      for (let user = from; user < from + 30; user++) {
        const { ad } = (await fixture.begin(String(user))) as unknown as { ad: { advertiser: string } };
        if (ad.advertiser === "free") shown += 1;
      }
      expect(shown, "half of them, as one of two campaigns of equal weight").toBeGreaterThanOrEqual(5);
    }
  });

  test("a campaign that is behind its plan of the day goes before each tag, however much that earned", async () => {
    await record(await tag("dear", 9000), 1000, 900, 900, 9000);
    await orderByEarnings();
    const [{ creativeId } = { creativeId: "" }] = await ask<{ creativeId: string }>(
      `select creative_id as "creativeId" from creatives where kind = 'file' limit 1`,
    );
    await fixture.sellTag(`${address()}/none`, { creativeIds: [creativeId], priority: "standard", dailyViewCap: 1000 });
    fixture.advance(3600);
    await read();
    for (let user = 6700; user < 6740; user++) await fixture.begin(String(user));
    expect(requested).toEqual([]);
  });

  test("what a tag earned before its requests were counted is not by them", async () => {
    const campaignId = await tag("known", 2000);
    await record(campaignId, 20, 20, 10, 2000);
    const before = new Date(fixture.clock.now.getTime() - 86_400_000);
    await ask(
      `insert into stats_audiences (span, starts_at, bot_id, campaign_id, spend_micros)
       values ('day', date_trunc('day', $1::timestamptz, 'UTC'), $2, $3, 1000000)`,
      before,
      fixture.botId,
      campaignId,
    );
    const of = { botId: fixture.botId, country: undefined, now: fixture.clock.now };
    expect((await recordsOf(store.database, of)).get(campaignId)).toMatchObject({ fills: 20, earnedMicros: 20_000 });
  });

  test("what is older than seven days is forgotten", async () => {
    const campaignId = await tag("old", 5000);
    await orderByEarnings();
    await record(campaignId, 10, 10, 0);
    fixture.advance(7 * 86_400);
    await read();
    expect(await ask("select from source_tries")).toEqual([]);
    expect(fixture.sources.records.size).toBe(0);
  });
});
