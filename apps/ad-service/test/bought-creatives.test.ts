import { randomBytes } from "node:crypto";
import { type BuyerSettings, usualBuyer } from "@intermission/operator-api/buyers";
import { secretBox } from "@intermission/server/secret-box";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Bid, openBuyer } from "../../../examples/buyer.ts";
import { updateBot } from "../src/bots/change-bot.ts";
import { addBuyer, updateBuyer } from "../src/buyers/buyers.ts";
import { migrations } from "../src/migrations.ts";
import { openVastFixture } from "./fixtures/vast-fixture.ts";

const box = secretBox(randomBytes(32));

describe("what a buyer bids with", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openVastFixture>>;
  let stand: Awaited<ReturnType<typeof openBuyer>>;
  let changeBid: (bid: Bid) => Bid;
  let user = 5000;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    await ask("insert into deployment (currency) values ('USD')");
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openVastFixture(store.database, {}, box);
    changeBid = (bid) => bid;
    stand = await openBuyer({ changeBid: (bid) => changeBid(bid) });
    await ask("update campaigns set view_price_micros = 1000, updated_at = now() where campaign_id = 'cmp_1'");
  });
  afterEach(async () => {
    stand.close();
    await ask("update buyers set is_active = false");
    await fixture.close();
  });

  const ask = <Row = Record<string, unknown>>(text: string, ...values: unknown[]) =>
    store.database.run<Row>({ name: "", text }, values);

  async function buy(change: Partial<BuyerSettings> = {}) {
    const deps = { database: store.database, secretBox: box };
    const name = `Exchange ${randomBytes(4).toString("hex")}`;
    const settings = { ...usualBuyer, tmaxMs: 800, url: stand.urlOf("bid"), ...change };
    const added = await addBuyer(deps, { ...settings, name, key: null, now: fixture.clock.now });
    if (added === undefined) throw new Error("the name is taken");
    await updateBuyer(deps, { buyerId: added.buyerId, change: { isActive: true } });
    await fixture.campaigns.refresh();
    return added.buyerId;
  }

  const stored = (buyerId: string) =>
    ask<{ id: string; review: string; offered: number; reports: number; revision: number; hosts: string[] }>(
      `select bought_creative_id as id, review, offered, reports, revision, landing_hosts as hosts from bought_creatives
       where buyer_id = $1 order by first_seen_at, crid`,
      buyerId,
    );
  const approve = (id: string) =>
    ask("update bought_creatives set review = 'approved', offered = 0 where bought_creative_id = $1", id);
  const outcomesOf = async (buyerId: string) =>
    (
      await ask<{ outcome: string; count: number }>(
        "select outcome, count(*)::integer as count from opening_offers where source = $1 group by 1 order by 1",
        buyerId,
      )
    ).map(({ outcome, count }) => `${count} ${outcome}`);
  const openAd = async (address?: string) => {
    const viewer = String(++user);
    const opened = await fixture.open(viewer, undefined, address);
    const { ad } = opened.body as { ad?: { advertiser: string } };
    return ad?.advertiser;
  };
  const report = (view: { session_id: string; token: string }) =>
    fixture.post(`/sessions/${view.session_id}/ad-reports`, { token: view.token, reason: "scam" });

  test("is offered so often before a person has approved it, and then without a limit; its buyer is told why not", async () => {
    const buyerId = await buy({ firstSeenLimit: 2 });
    for (const advertiser of ["Shop", "Shop", "Intermission"]) expect(await openAd()).toBe(advertiser);
    expect(await outcomesOf(buyerId)).toEqual(["1 unreviewed", "2 won"]);
    await fixture.callTrackers();
    expect(stand.callsOf("/loss"), "pending processing").toEqual(["/loss?bid=response-1&why=201&p="]);
    const [creative, ...others] = await stored(buyerId);
    expect(others).toEqual([]);
    expect(creative).toMatchObject({ review: "waiting", offered: 2, hosts: ["127.0.0.1"] });
    await approve(creative?.id ?? "");
    for (let opening = 0; opening < 3; opening++) expect(await openAd()).toBe("Shop");
    expect(await stored(buyerId)).toMatchObject([{ offered: 0 }]);
  });

  test("twelve openings at once on two nodes exceed no limit", async () => {
    const buyerId = await buy({ firstSeenLimit: 3 });
    const nodes = [fixture.address, await fixture.startNode()];
    const shown = await Promise.all(Array.from({ length: 12 }, (_, index) => openAd(nodes[index % 2])));
    expect(shown.filter((advertiser) => advertiser === "Shop")).toHaveLength(3);
    expect(shown.filter((advertiser) => advertiser === "Intermission")).toHaveLength(9);
    expect(await stored(buyerId)).toMatchObject([{ offered: 3 }]);
  });

  test("with a limit of 0 waits for a person from the first bid on", async () => {
    const buyerId = await buy({ firstSeenLimit: 0 });
    expect(await openAd()).toBe("Intermission");
    expect(await stored(buyerId)).toMatchObject([{ review: "waiting", offered: 0 }]);
  });

  test("goes back to the queue once it leads elsewhere, and only then", async () => {
    const buyerId = await buy({ firstSeenLimit: 1 });
    expect(await openAd()).toBe("Shop");
    await approve((await stored(buyerId))[0]?.id ?? "");
    changeBid = (bid) => ({ ...bid, adm: String(bid.adm).replaceAll("/shop]", "/shop?click=2]") });
    expect(await openAd()).toBe("Shop");
    expect(await stored(buyerId), "another query is no other page").toMatchObject([
      { review: "approved", revision: 1 },
    ]);
    changeBid = (bid) => ({ ...bid, adm: String(bid.adm).replace(/http:\/\/[^/]+\/shop/, "https://wallet.example/") });
    for (const advertiser of ["Shop", "Intermission"]) expect(await openAd()).toBe(advertiser);
    expect(await stored(buyerId)).toMatchObject([
      { review: "waiting", offered: 1, revision: 2, hosts: ["127.0.0.1", "wallet.example"] },
    ]);
    await approve((await stored(buyerId))[0]?.id ?? "");
    changeBid = (bid) => bid;
    expect(await openAd(), "both hosts are known now").toBe("Shop");
    expect(await stored(buyerId)).toMatchObject([{ review: "approved", revision: 2 }]);
  });

  test("goes back to the queue once it is another file or another advertiser's; what caches and signatures add is no other file", async () => {
    const buyerId = await buy({ firstSeenLimit: 1 });
    const media = (address: string) => (bid: Bid) => ({ ...bid, adm: String(bid.adm).replace("/ad.mp4", address) });
    const long = "d/".repeat(400);
    changeBid = media(`/${long}v?f=clean.mp4`);
    await openAd();
    const changes: [what: string, changed: typeof changeBid][] = [
      ["another query", media(`/${long}v?f=scam.mp4`)],
      ["another path, whose first 512 characters are the same", media(`/${long}w?f=clean.mp4`)],
      [
        "another advertiser",
        (bid) => ({ ...media(`/${long}v?f=clean.mp4`)(bid), adomain: ["SHOP.example", "casino.test"] }),
      ],
    ];
    for (const [what, changed] of changes) {
      const [creative] = await stored(buyerId);
      await approve(creative?.id ?? "");
      changeBid = changed;
      expect(await openAd()).toBe("Shop");
      expect(await stored(buyerId), what).toMatchObject([
        { review: "waiting", offered: 1, revision: Number(creative?.revision) + 1 },
      ]);
    }
    const [creative] = await stored(buyerId);
    await approve(creative?.id ?? "");
    changeBid = media(`/${long}v?cb=7&f=clean.mp4&X-Amz-Signature=0f`);
    expect(await openAd()).toBe("Shop");
    expect(await stored(buyerId)).toMatchObject([{ review: "approved", revision: creative?.revision }]);
    expect(
      await ask("select domains, cardinality(media) as files from bought_creatives where buyer_id = $1", buyerId),
    ).toEqual([{ domains: ["casino.test", "shop.example"], files: 3 }]);
    // Without a `crid`, another file is another creative.
    for (const file of ["clean", "scam"]) {
      changeBid = (bid) => ({ ...media(`/${long}v?f=${file}.mp4`)(bid), crid: undefined });
      await openAd();
    }
    expect(await stored(buyerId)).toHaveLength(3);
  });

  test("is a new one with each new id, and without an id by the file: new ids are no way around the review", async () => {
    const buyerId = await buy({ firstSeenLimit: 0 });
    for (const crid of ["a", "b", undefined, undefined]) {
      changeBid = (bid) => ({ ...bid, crid });
      await openAd();
    }
    expect(await stored(buyerId)).toHaveLength(3);
    await ask(
      `insert into bought_creatives (bought_creative_id, buyer_id, domains, categories, media_url, media_type, width, height, duration_ms,
         media, landing_hosts, first_seen_at, last_seen_at)
       select 'bcr_' || md5(n::text), $1, '{}', '{}', 'https://cdn.example/', 'video/mp4', 1, 1, 1, '{}', '{}', $2, $2
       from generate_series(1, 197) as n`,
      buyerId,
      fixture.clock.now,
    );
    await ask("update buyers set first_seen_limit = 10 where buyer_id = $1", buyerId);
    await fixture.campaigns.refresh();
    changeBid = (bid) => ({ ...bid, crid: "one too many" });
    expect(await openAd()).toBe("Intermission");
    expect(await stored(buyerId)).toHaveLength(200);
    changeBid = (bid) => ({ ...bid, crid: "a" });
    expect(await openAd(), "those that wait are still offered").toBe("Shop");
  });

  test("eight new ones at once on two nodes exceed no limit of what waits, to which reported ones count", async () => {
    const buyerId = await buy();
    const nodes = [fixture.address, await fixture.startNode()];
    await ask(
      `insert into bought_creatives (bought_creative_id, buyer_id, domains, categories, media_url, media_type, width, height, duration_ms,
         media, landing_hosts, review, first_seen_at, last_seen_at)
       select 'bcr_' || md5($1 || n::text), $1, '{}', '{}', 'https://cdn.example/', 'video/mp4', 1, 1, 1, '{}', '{}',
         case n % 2 when 0 then 'waiting' else 'reported' end, $2, $2
       from generate_series(1, 199) as n`,
      buyerId,
      fixture.clock.now,
    );
    let bids = 0;
    changeBid = (bid) => ({ ...bid, crid: `at once ${++bids}` });
    const shown = await Promise.all(Array.from({ length: 8 }, (_, index) => openAd(nodes[index % 2])));
    expect(shown.filter((advertiser) => advertiser === "Shop")).toHaveLength(1);
    expect(await stored(buyerId)).toHaveLength(200);
  });

  test("is paused on all nodes by the first report while it waits, and an offer that was not started is withdrawn", async () => {
    const buyerId = await buy();
    const other = await fixture.startNode();
    const [ann, bob] = [String(++user), String(++user)];
    const opened = await fixture.begin(ann);
    const code = await fixture.issue(bob);
    const ofBob = await fixture.begin(bob, code);
    expect(ofBob).toMatchObject({ ad: { advertiser: "Shop" } });
    expect(await report(opened)).toMatchObject({ body: { outcome: "recorded" } });
    expect(await report(opened), "once by each viewer").toMatchObject({ body: { outcome: "known" } });
    expect(await stored(buyerId)).toMatchObject([{ review: "reported", reports: 1 }]);
    expect(await openAd(other), "without waiting for any refresh").toBe("Intermission");
    expect(await openAd()).toBe("Intermission");
    expect(await fixture.begin(bob, code)).toMatchObject({ ad: { advertiser: "Intermission" } });
    expect(await outcomesOf(buyerId)).toEqual(["2 disapproved", "2 won"]);
  });

  test("once approved, is paused by as many viewers as the operator says, eight at once on two nodes", async () => {
    const buyerId = await buy({ reportLimit: 4 });
    const nodes = [fixture.address, await fixture.startNode()];
    await openAd();
    await approve((await stored(buyerId))[0]?.id ?? "");
    const views: Awaited<ReturnType<typeof fixture.begin>>[] = [];
    for (let viewer = 0; viewer < 4; viewer++) views.push(await fixture.begin(String(++user)));
    const reportAt = (index: number) => {
      const view = views[index % 3];
      if (view === undefined) throw new Error("no view");
      const body = { token: view.token, reason: "scam" };
      return fixture.post(`/sessions/${view.session_id}/ad-reports`, body, "application/json", nodes[index % 2]);
    };
    await Promise.all(Array.from({ length: 8 }, (_, index) => reportAt(index)));
    expect(await stored(buyerId)).toMatchObject([{ review: "approved", reports: 3 }]);
    expect(await openAd()).toBe("Shop");
    const [, , , last] = views;
    if (last) await report(last);
    expect(await stored(buyerId)).toMatchObject([{ review: "reported", reports: 4 }]);
    expect(await openAd()).toBe("Intermission");
  });

  test("of a kind that laws restrict is refused unless it is allowed, in whichever taxonomy, and buyers are told so", async () => {
    const buyerId = await buy();
    for (const [cat, cattax] of [
      [["IAB9-7"], undefined],
      [["IAB26-1"], 1],
      [["1366"], 8],
      [["181"], 7],
      // The meaning of a category in a buyer's own taxonomy is unknown.
      [["games"], 501],
    ] as const) {
      changeBid = (bid) => ({ ...bid, cat, cattax });
      expect(await openAd(), String(cat)).toBe("Intermission");
    }
    expect(await outcomesOf(buyerId)).toEqual(["5 blocked-category"]);
    expect(stand.calls[0]?.request).toMatchObject({ cattax: 1, bcat: expect.arrayContaining(["IAB9-7", "IAB26"]) });
    await ask("update buyers set allowed_regulated = '{gambling}' where buyer_id = $1", buyerId);
    await fixture.campaigns.refresh();
    changeBid = (bid) => ({ ...bid, cat: ["IAB9-7"] });
    expect(await openAd()).toBe("Shop");
    const requests = stand.calls.flatMap(({ request }) => request ?? []);
    expect(requests.at(-1)?.bcat).not.toContain("IAB9-7");
  });

  test("testers see what waits, which counts nothing", async () => {
    const buyerId = await buy({ firstSeenLimit: 0 });
    const tester = String(++user);
    const settings = { testers: [tester] };
    await updateBot(fixture.bots, { botId: fixture.botId, settings, now: fixture.clock.now });
    expect(await fixture.begin(tester)).toMatchObject({ ad: { advertiser: "Shop" } });
    expect(await stored(buyerId)).toEqual([]);
  });
});
