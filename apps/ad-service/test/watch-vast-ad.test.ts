import { openSessionResponse } from "@intermission/ad-core/player-api";
import type { Database } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import type { GuardedRequests } from "../src/outbound/guarded-request.ts";
import { callTrackers } from "../src/vast/trackers.ts";
import { startAdServer } from "./fixtures/ad-server-fixture.ts";
import { type Answer, companion, inline, vast, wrapper } from "./fixtures/sample-ad-server.ts";
import { openVastFixture } from "./fixtures/vast-fixture.ts";

const ann = "1001";
const all = ["impression", "creativeView", "start", "firstQuartile", "midpoint", "thirdQuartile", "complete"];

describe("a VAST ad", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openVastFixture>>;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openVastFixture(store.database);
  });
  afterEach(() => fixture.close());

  const ask = (text: string, ...values: unknown[]) => store.database.run({ name: "", text }, values);
  const open = async (user = ann) => {
    const opened = openSessionResponse.parse((await fixture.open(user)).body);
    if (opened.outcome !== "session") throw new Error(opened.outcome);
    return opened;
  };

  test("a watched and closed ad pays, and each tracker of each party is called once, when it is due", async () => {
    const ads = await startAdServer({ "/tag": wrapper("{self}/inline"), "/inline": inline() });
    const campaignId = await fixture.sellTag(`${ads.address}/tag`, { viewPriceMicros: 700 });
    const opened = await open();
    expect(opened.ad).toMatchObject({
      advertiser: "Sample advertiser",
      title: "Inline linear ad",
      shown_because: ["network", "bot"],
      media_url: `${ads.address}/ad.mp4`,
      media_type: "video/mp4",
      duration_ms: 10_000,
      width: 640,
      height: 360,
    });
    // A host is no word for a button: the player has one in each language.
    expect(opened.ad.call_to_action).toEqual({ url: expect.any(String), opens: { in: "browser" } });
    expect(await fixture.callTrackers()).toBe(0);

    await fixture.play(opened, 0, 5);
    await fixture.callTrackers();
    const paths = () => ads.calls.map(({ path }) => path).filter((path) => !["/tag", "/inline"].includes(path));
    const ofBoth = (events: string[]) =>
      ["wrapper", "inline"].flatMap((party) => events.map((event) => `/${party}/${event}`));
    expect(paths().toSorted()).toEqual(ofBoth(all.slice(0, 5)).toSorted());

    await fixture.play({ ...opened, first_sequence: 5 }, 5, 10);
    const [first] = await Promise.all([
      fixture.report(opened, { closed: "tap" }),
      fixture.report(opened, { closed: "tap" }),
    ]);
    expect(first.body).toMatchObject({ state: "rewarded" });
    await Promise.all([fixture.callTrackers(3), fixture.callTrackers(3), fixture.callTrackers()]);
    await fixture.callTrackers();
    expect(paths().toSorted()).toEqual(ofBoth([...all, "closeLinear"]).toSorted());
    expect(ads.callsOf("/inline/complete")).toEqual(["/inline/complete?at=00%3A00%3A09.000"]);
    expect(await fixture.charges()).toMatchObject([{ campaign_id: campaignId, price_micros: 700 }]);
    expect(new Set((await fixture.calls()).map(({ outcome }) => outcome))).toEqual(new Set(["answered"]));
  });

  test("an ad is shown whose names have an emoji at the place where they are cut", async () => {
    const name = `${"a".repeat(127)}🎁 and more`;
    const answer = inline()
      .replace(/<AdTitle>.*?<\/AdTitle>/, `<AdTitle>${name}</AdTitle>`)
      .replace(/<Advertiser>.*?<\/Advertiser>/, `<Advertiser>${name}</Advertiser>`)
      .replace(/<Ad id="[^"]*"/, `<Ad id="${name}"`);
    const ads = await startAdServer({ "/tag": answer });
    await fixture.sellTag(`${ads.address}/tag`);
    expect((await open()).ad).toMatchObject({ advertiser: "a".repeat(127), title: "a".repeat(127) });
  });

  test("a companion is offered for the end card, also when the ad is opened again, and its view is tracked once", async () => {
    const ads = await startAdServer({ "/tag": inline({ companions: companion() }) });
    await fixture.sellTag(`${ads.address}/tag`);
    const code = await fixture.issue(ann);
    const opened = await fixture.begin(ann, code);
    const endCard = {
      poster_url: `${ads.address}/companion.png`,
      width: 320,
      height: 480,
      call_to_action: { url: expect.stringContaining("place=end-card") },
    };
    expect(opened).toMatchObject({ ad: { end_card: endCard } });
    await fixture.play(opened, 0, 5);
    const again = await fixture.begin(ann, code);
    expect(again).toMatchObject({ ad: { end_card: endCard } });
    await fixture.callTrackers();
    expect(ads.callsOf("/companion/view"), "the video is not over").toEqual([]);
    await fixture.play(again, 5, 10);
    await fixture.report(again, { closed: "tap" });
    await fixture.callTrackers();
    expect(ads.callsOf("/companion/view")).toHaveLength(1);
    expect(ads.callsOf("/companion/click")).toEqual([]);
  });

  test("unproven claims of the client call no tracker", async () => {
    const ads = await startAdServer({ "/tag": inline() });
    await fixture.sellTag(`${ads.address}/tag`);
    const opened = await open();
    const reports = Array.from({ length: 10 }, (_, second) => {
      return { sequence: second, from_ms: second * 1000, to_ms: (second + 1) * 1000, visible: true, muted: true };
    });
    await fixture.report(opened, { started: true, reports, closed: "tap" });
    const events = (await fixture.calls()).map(({ event }) => event);
    expect(new Set(events)).toEqual(new Set(["impression", "start"]));
  });

  test("what the viewer does calls its trackers, once each, and a progress is called at its offset", async () => {
    const names = ["loaded", "start", "playerExpand", "mute", "unmute", "pause", "resume", "complete"];
    const of = (event: string, more = "") =>
      `<Tracking event="${event}"${more}>{self}/${event}?id=[ADSERVINGID]&amp;u=[UNIVERSALADID]</Tracking>`;
    const offsets = [' offset="00:00:02"', ' offset="25%"', ' offset="00:00:09"'].map((at) => of("progress", at));
    const tracking = `<TrackingEvents>${names.map((name) => of(name)).join("")}${offsets.join("")}</TrackingEvents>`;
    const answer = inline({ tracking, more: "<AdServingId>srv 1</AdServingId>" });
    const ads = await startAdServer({ "/tag": answer });
    await fixture.sellTag(`${ads.address}/tag`);
    const opened = await open();
    await fixture.report(opened, { started: true });
    const report = async (second: number, events: ("mute" | "unmute" | "pause" | "resume")[]) => {
      fixture.advance(1);
      const range = {
        sequence: second,
        from_ms: second * 1000,
        to_ms: (second + 1) * 1000,
        visible: true,
        muted: true,
      };
      return fixture.report(opened, { reports: [{ ...range, events }] });
    };
    await report(0, ["unmute"]);
    await report(1, ["mute", "pause"]);
    await report(2, ["resume"]);
    await report(3, ["pause"]);
    await fixture.callTrackers();
    const called = () =>
      ads.calls.map(({ path }) => path.slice(1)).filter((name) => [...names, "progress"].includes(name));
    const soFar = ["loaded", "start", "playerExpand", "mute", "unmute", "pause", "resume", "progress", "progress"];
    expect(called().toSorted()).toEqual(soFar.toSorted());
    expect(ads.callsOf("/pause")).toEqual(["/pause?id=srv%201&u=-1"]);
    for (let second = 4; second < 10; second++) await report(second, second === 9 ? ["pause"] : []);
    await fixture.callTrackers();
    expect(called().toSorted()).toEqual([...soFar, "progress", "complete"].toSorted());
  });

  test("an ad whose Expires has ended is not started, and the next opening has another one", async () => {
    const ads = await startAdServer({ "/tag": inline({ more: "<Expires>60</Expires>" }) });
    await fixture.sellTag(`${ads.address}/tag`);
    const code = await fixture.issue(ann);
    const opened = await fixture.begin(ann, code);
    fixture.advance(59);
    expect((await fixture.begin(ann, code)).session_id).toBe(opened.session_id);
    expect(ads.callsOf("/tag")).toHaveLength(1);
    const again = await fixture.begin(ann, code);
    fixture.advance(3);
    expect((await fixture.report(again, { started: true })).status).toBe(410);
    const next = await fixture.begin(ann, code);
    expect(next.session_id).not.toBe(opened.session_id);
    expect(ads.callsOf("/tag")).toHaveLength(2);
    await fixture.report(next, { started: true });
    fixture.advance(61);
    expect((await fixture.begin(ann, code)).session_id, "a started view is honoured").toBe(next.session_id);
  });

  test("a second opening shows the same ad, and the tag is not queried again", async () => {
    const ads = await startAdServer({ "/tag": inline() });
    await fixture.sellTag(`${ads.address}/tag`);
    const code = await fixture.issue(ann);
    const opened = await fixture.begin(ann, code);
    await fixture.play(opened, 0, 4);
    ads.close();
    const again = await fixture.begin(ann, code);
    expect(again).toMatchObject({ session_id: opened.session_id, ad: { media_url: `${ads.address}/ad.mp4` } });
    expect(ads.callsOf("/tag")).toHaveLength(1);
  });

  test("an offer that is withdrawn takes its ad with it, and one that is kept longer than its ad leads nowhere", async () => {
    const ads = await startAdServer({ "/tag": inline() });
    await fixture.sellTag(`${ads.address}/tag`);
    const [first, second] = [await fixture.issue(ann, "first"), await fixture.issue(ann, "second")];
    await fixture.begin(ann, first);
    const opened = await fixture.begin(ann, second);
    const text = "select view_id from vast_ads where bot_id = $1";
    expect(await ask(text, fixture.botId)).toEqual([{ view_id: opened.session_id }]);
    await fixture.play(opened, 0, 10);
    await fixture.report(opened, { closed: "tap" });
    await ask("delete from vast_ads where bot_id = $1", fixture.botId);
    expect(await fixture.open(ann, second)).toMatchObject({ status: 410, body: { error: { code: "CODE_EXPIRED" } } });
  });

  test("a tag without an ad falls back to the next campaign, and its Error address gets the error code", async () => {
    const ads = await startAdServer({
      "/broken": inline({ files: "", name: "broken" }),
      "/empty": vast("<Error>{self}/empty/error?code=[ERRORCODE]</Error>"),
    });
    await fixture.sellTag(`${ads.address}/broken`);
    await fixture.sellTag(`${ads.address}/empty`);
    expect(await open()).toMatchObject({ ad: { media_url: "http://ads.test/media/ab.mp4" } });
    await fixture.callTrackers();
    expect(ads.callsOf("/broken/error")).toEqual(["/broken/error?code=403"]);
    expect(ads.callsOf("/empty/error")).toEqual(["/empty/error?code=303"]);
  });

  test("the campaign's last view is shown once, although another node shows it while the tag is requested", async () => {
    let campaignId = "";
    const days = "insert into campaign_days (campaign_id, day, views, clicks, spent_micros) values ($1, $2, 1, 0, 0)";
    const tag: Answer = async (_request, response) => {
      await ask(days, campaignId, fixture.clock.now);
      response.end(inline().replaceAll("{self}", ads.address));
    };
    const ads = await startAdServer({ "/tag": tag });
    campaignId = await fixture.sellTag(`${ads.address}/tag`, { totalViewCap: 1 });
    expect((await open()).ad.advertiser).not.toBe("Sample advertiser");
    expect(await ask("select from views where campaign_id = $1", campaignId)).toEqual([]);
  });

  test("without any other ad the opening answers no-ad", async () => {
    const hang: Answer = (_request, response) => response.writeHead(500).end();
    const ads = await startAdServer({ "/tag": hang });
    await fixture.sellTag(`${ads.address}/tag`);
    await ask("update campaigns set status = 'paused', paused_by = 'operator' where campaign_id = 'cmp_1'");
    await fixture.campaigns.refresh();
    expect((await fixture.open(ann)).body).toMatchObject({ outcome: "no-ad" });
    expect((await fixture.open("1002")).body).toMatchObject({ outcome: "no-ad" });
    expect(ads.callsOf("/tag"), "a tag that does not answer is skipped for a while").toHaveLength(1);
    await ask("update campaigns set status = 'active', paused_by = null where campaign_id = 'cmp_1'");
  });

  test("a document with too many trackers still shows its ad, and the number of calls is bounded", async () => {
    const each = (element: (url: string) => string) =>
      Array.from({ length: 3000 }, (_, index) => element(`{self}/${index}?cb=[CACHEBUSTING]`)).join("");
    const tracking = each((url) => `<Tracking event="start">${url}</Tracking>`);
    const more = each((url) => `<Impression>${url}</Impression>`);
    const document = inline({ tracking: `<TrackingEvents>${tracking}</TrackingEvents>`, more });
    const ads = await startAdServer({ "/tag": document });
    await fixture.sellTag(`${ads.address}/tag`);
    const opened = await open();
    expect(opened.ad.media_url).toBe(`${ads.address}/ad.mp4`);
    await fixture.report(opened, { started: true });
    const events = (await fixture.calls()).map(({ event }) => event);
    expect(events.filter((event) => event === "impression")).toHaveLength(32);
    expect(events.filter((event) => event === "start")).toHaveLength(32);
    expect(events).toHaveLength(64);
  });

  test("a tester sees the ad, and no tracker is called", async () => {
    const ads = await startAdServer({ "/tag": inline() });
    await fixture.sellTag(`${ads.address}/tag`);
    await ask("update bots set testers = $2 where bot_id = $1", fixture.botId, [ann]);
    const opened = await open();
    await fixture.play(opened, 0, 10);
    expect((await fixture.report(opened, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
    expect(await fixture.calls()).toEqual([]);
  });

  describe("retries of a tracker call", () => {
    /** Plays briefly, so that only the impression is due. */
    async function impressionAt(answer: Answer) {
      const ads = await startAdServer({ "/tag": inline({ tracking: "" }), "/inline/impression": answer });
      await fixture.sellTag(`${ads.address}/tag`);
      await fixture.report(await open(), { started: true });
      const attempts = async (times: number) => {
        for (let time = 0; time < times; time++) {
          await fixture.callTrackers();
          fixture.advance(61);
        }
      };
      return { ...ads, attempts, count: () => ads.callsOf("/inline/impression").length };
    }

    test("a failing tracker is called three times at most", async () => {
      const ads = await impressionAt((_request, response) => response.writeHead(503).end());
      await ads.attempts(5);
      expect(ads.count()).toBe(3);
      expect(await fixture.calls()).toMatchObject([{ attempts: 3, outcome: "refused" }]);
    });

    test("a tracker that recovers is called until it answers", async () => {
      let isDown = true;
      const ads = await impressionAt((_request, response) => response.writeHead(isDown ? 503 : 204).end());
      await ads.attempts(1);
      fixture.advance(-30);
      expect(await fixture.callTrackers(), "not before its scheduled time").toBe(0);
      fixture.advance(30);
      isDown = false;
      await ads.attempts(3);
      expect(ads.count()).toBe(2);
      expect(await fixture.calls()).toMatchObject([{ outcome: "answered" }]);
    });

    test("a tracker that closes the connection during the call is not called again: it may have counted it", async () => {
      const ads = await impressionAt((request) => request.socket.destroy());
      await ads.attempts(3);
      expect(ads.count()).toBe(1);
      expect(await fixture.calls()).toMatchObject([{ attempts: 1, outcome: "unknown" }]);
    });

    test("a tracker's redirects are followed like a browser's, each once, also where what they lead to fails", async () => {
      const redirect =
        (location: string): Answer =>
        (_request, response) =>
          response.writeHead(302, { location }).end();
      const ads = await impressionAt(redirect("/moved?to=a"));
      ads.answers["/moved"] = redirect("//{host}/second".replace("{host}", new URL(ads.address).host));
      const callsAtRedirect: unknown[] = [];
      ads.answers["/second"] = async (_request, response) => {
        callsAtRedirect.push(...(await fixture.calls()));
        response.writeHead(503).end();
      };
      await ads.attempts(3);
      expect(callsAtRedirect, "a kill from here on repeats nothing").toMatchObject([{ outcome: "answered" }]);
      expect(ads.calls.map(({ url }) => url).slice(2)).toEqual(["/moved?to=a", "/second"]);
      expect(await fixture.calls()).toMatchObject([{ attempts: 1, outcome: "answered" }]);
    });

    test.each([
      { to: "itself", location: "?again", calls: 6 },
      { to: "an address that is not public", location: "http://10.1.2.3/secret", calls: 1 },
      { to: "a user name", location: "http://user@127.0.0.1/", calls: 1 },
      { to: "no address", location: "http://", calls: 1 },
    ])("a tracker that redirects to $to is called $calls times", async ({ location, calls }) => {
      const ads = await impressionAt((_request, response) => response.writeHead(302, { location }).end());
      await ads.attempts(3);
      expect(ads.count()).toBe(calls);
      expect(await fixture.calls()).toMatchObject([{ attempts: 1, outcome: "answered" }]);
    });

    test("a tracker that redirects is not called again after a fault of this machine, which is logged", async () => {
      const location = "/second";
      const ads = await impressionAt((_request, response) => response.writeHead(302, { location }).end());
      const fault = Object.assign(new Error("too many open files"), { code: "EMFILE" });
      const guardedRequest: GuardedRequests["guardedRequest"] = async (request) => {
        if (request.url.endsWith(location)) throw fault;
        return fixture.requests.guardedRequest(request);
      };
      const logged: unknown[] = [];
      const log = { error: (details: unknown) => logged.push(details) };
      for (let attempt = 0; attempt < 3; attempt++) {
        const now = () => fixture.clock.now;
        await callTrackers({ database: store.database, requests: { guardedRequest }, log, now }, { atMost: 100 });
        fixture.advance(61);
      }
      expect(ads.count()).toBe(1);
      expect(await fixture.calls()).toMatchObject([{ attempts: 1, outcome: "answered" }]);
      expect(logged).toEqual([{ err: fault }]);
    });

    test("a tracker is called once, with its redirect, although the database is away after the call", async () => {
      const ads = await impressionAt((_request, response) => response.writeHead(302, { location: "/second" }).end());
      ads.answers["/second"] = (_request, response) => response.writeHead(204).end();
      let refusals = 0;
      const run: Database["run"] = async (statement, values) => {
        if (statement.name !== "vast.finish-call" || ++refusals > 5) return store.database.run(statement, values);
        throw Object.assign(new Error("the database system is shutting down"), { code: "57P03" });
      };
      const database = { ...store.database, run };
      const now = () => fixture.clock.now;
      const log = { error: (fault: unknown) => console.error(fault) };
      await callTrackers({ database, requests: fixture.requests, log, now }, { atMost: 100 });
      fixture.advance(61);
      await ads.attempts(2);
      expect(refusals).toBeGreaterThan(5);
      expect(ads.count()).toBe(1);
      expect(ads.callsOf("/second")).toHaveLength(1);
      expect(await fixture.calls()).toMatchObject([{ attempts: 1, outcome: "answered" }]);
    });

    test("a node that stops while the database is away does not wait for it", async () => {
      await impressionAt((_request, response) => response.writeHead(204).end());
      const away = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      const stopping = new AbortController();
      const run: Database["run"] = async (statement, values) => {
        if (statement.name !== "vast.finish-call") return store.database.run(statement, values);
        stopping.abort();
        throw away;
      };
      const deps = { database: { ...store.database, run }, requests: fixture.requests, log: { error: () => {} } };
      const called = callTrackers(
        { ...deps, now: () => fixture.clock.now, stopping: stopping.signal },
        { atMost: 100 },
      );
      await expect(called).rejects.toBe(away);
    });

    test("an unreachable tracker is called three times at most", async () => {
      const ads = await impressionAt("");
      ads.close();
      await ads.attempts(5);
      expect(await fixture.calls()).toMatchObject([{ attempts: 3, outcome: "failed" }]);
    });
  });
});
