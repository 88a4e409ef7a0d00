import { faultResponse, openSessionResponse } from "@intermission/ad-core/player-api";
import type { PlaybackFault } from "@intermission/ad-core/wire-fields";
import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { addCampaign } from "../src/campaigns/change-campaign.ts";
import { migrations } from "../src/migrations.ts";
import { startAdServer } from "./fixtures/ad-server-fixture.ts";
import { readReportOf, rollUpUntilNow } from "./fixtures/facts-fixture.ts";
import { inline, wrapper } from "./fixtures/sample-ad-server.ts";
import { openVastFixture } from "./fixtures/vast-fixture.ts";
import type { Opened } from "./fixtures/view-fixture.ts";

const ann = "1001";
const insertVideo = statement<never>(
  "test.second-video",
  `insert into creatives (creative_id, sha256, file_name, media_type, byte_length, duration_ms, width, height)
   values ('cre_2', 'cd', 'cd.mp4', 'video/mp4', 1000, 10000, 540, 960)`,
);
const houseVideo = "http://ads.test/media/ab.mp4";

describe("a video that its player gives up", () => {
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

  const open = async (code?: string, user = ann) => {
    const opened = openSessionResponse.parse((await fixture.open(user, code)).body);
    if (opened.outcome !== "session") throw new Error(opened.outcome);
    return opened;
  };
  const giveUp = (view: Opened, fault: PlaybackFault = "not-found", token = view.token) =>
    fixture.post(`/sessions/${view.session_id}/faults`, { token, fault });
  const nextOpening = async (view: Opened) => faultResponse.parse((await giveUp(view)).body).next_opening;
  const faultsOf = async () => {
    await rollUpUntilNow(store.database);
    const day = { from: new Date("2026-03-01T00:00:00Z"), to: new Date("2026-03-02T00:00:00Z") };
    return (await readReportOf(store.database, { botId: fixture.botId, ...day, by: "day" })).total.playbackFaults;
  };

  test.each<[PlaybackFault, number]>([
    ["not-found", 401],
    ["timeout", 402],
    ["unsupported", 403],
    ["not-displayed", 405],
    ["too-short", 202],
    ["other", 400],
  ])("%s: each Error address is called with %i once, however often the player reports it", async (fault, code) => {
    const ads = await startAdServer({ "/tag": wrapper("{self}/inline"), "/inline": inline() });
    await fixture.sellTag(`${ads.address}/tag`);
    const opened = await open();
    expect(await giveUp(opened, fault)).toMatchObject({ status: 200 });
    await Promise.all([giveUp(opened, fault), giveUp(opened, "other"), giveUp(opened, "timeout")]);
    await fixture.callTrackers();
    await fixture.callTrackers();
    for (const party of ["wrapper", "inline"])
      expect(ads.callsOf(`/${party}/error`)).toEqual([`/${party}/error?code=${code}`]);
    expect(await faultsOf()).toEqual({ [fault]: 1 });
  });

  test("the next opening of its code returns another ad, which pays; the broken one costs nothing", async () => {
    const ads = await startAdServer({ "/tag": inline() });
    await fixture.sellTag(`${ads.address}/tag`, { viewPriceMicros: 700 });
    const code = await fixture.issue(ann);
    const broken = await open(code);
    expect(broken.ad.media_url).toBe(`${ads.address}/ad.mp4`);
    expect(await nextOpening(broken)).toBe("another-ad");

    const another = await open(code);
    expect(another.ad.media_url).toBe(houseVideo);
    expect(ads.callsOf("/tag"), "the tag is not queried for a second broken ad").toHaveLength(1);
    await fixture.play(another, 0, 10);
    expect((await fixture.report(another, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
    expect(await fixture.charges()).toMatchObject([{ campaign_id: "cmp_1", price_micros: 2500 }]);
    expect(await fixture.events()).toMatchObject([{ event: "rewarded", code }]);
    expect(await fixture.storedViews()).toMatchObject([{ view_id: another.session_id }]);
    expect(await faultsOf()).toEqual({ "not-found": 1 });
  });

  test("house videos: each faulty file is skipped, then there is no ad for now, then the last one is offered again", async () => {
    await store.database.run(insertVideo, []);
    await addCampaign(store.database, {
      campaignId: `cmp_${fixture.botId}`,
      name: "First",
      advertiser: "Acme",
      formats: ["rewarded"],
      priority: "sponsorship",
      targeting: { bots: [fixture.botId] },
      creativeIds: ["cre_2"],
      now: fixture.clock.now,
    });
    await fixture.campaigns.refresh();
    const code = await fixture.issue(ann);
    const first = await open(code);
    expect(first.ad.media_url).toBe("http://ads.test/media/cd.mp4");
    await giveUp(first, "not-displayed");
    const second = await open(code);
    expect(second.ad.media_url).toBe(houseVideo);
    await giveUp(second, "too-short");
    expect((await fixture.open(ann, code)).body).toMatchObject({ outcome: "no-ad" });
    expect((await fixture.open("1002")).body, "other users still get it").toMatchObject({ outcome: "session" });

    fixture.advance(10 * 60);
    const again = await open(code);
    expect(again).toMatchObject({ session_id: second.session_id, ad: { media_url: houseVideo } });
    await giveUp(again, "too-short");
    expect((await fixture.open(ann, code)).body).toMatchObject({ outcome: "no-ad" });
    expect(await faultsOf(), "once for each view").toEqual({ "not-displayed": 1, "too-short": 1 });
  });

  test.each(["timeout", "not-found", "other"] as const)(
    "without another ad, one that failed by %s is offered again",
    async (fault) => {
      const code = await fixture.issue(ann);
      const opened = await open(code);
      await giveUp(opened, fault);
      const again = await open(code);
      expect(again).toMatchObject({ session_id: opened.session_id, ad: { media_url: houseVideo } });
      await fixture.play(again, 0, 10);
      expect((await fixture.report(again, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
    },
  );

  test("if only its first frames were shown, another ad is offered", async () => {
    const ads = await startAdServer({ "/tag": inline() });
    await fixture.sellTag(`${ads.address}/tag`);
    const code = await fixture.issue(ann);
    const frozen = await open(code);
    fixture.advance(1);
    const frames = { sequence: frozen.first_sequence, from_ms: 0, to_ms: 500, visible: true, muted: true };
    const { body } = await fixture.report(frozen, { started: true, reports: [frames] });
    expect(body).toMatchObject({ accepted_ms: 500 });
    expect(await nextOpening(frozen)).toBe("another-ad");
    expect((await open(code)).ad.media_url).toBe(houseVideo);
  });

  test("if a part was watched, the same ad continues", async () => {
    const code = await fixture.issue(ann);
    const opened = await open(code);
    await fixture.play(opened, 0, 4);
    expect(await nextOpening(opened)).toBe("same-ad");
    const again = await open(code);
    expect(again).toMatchObject({ session_id: opened.session_id, accepted_ms: 4000 });
    await fixture.play(again, 4, 10);
    expect((await fixture.report(again, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
  });

  test.each(["too-short", "not-displayed", "unsupported"] as const)(
    "if a part was watched and the rest is %s, another ad is still offered",
    async (fault) => {
      const ads = await startAdServer({ "/tag": inline() });
      await fixture.sellTag(`${ads.address}/tag`);
      const code = await fixture.issue(ann);
      const opened = await open(code);
      await fixture.play(opened, 0, 4);
      expect(faultResponse.parse((await giveUp(opened, fault)).body).next_opening).toBe("another-ad");
      expect(await open(code)).toMatchObject({ accepted_ms: 0, ad: { media_url: houseVideo } });
    },
  );

  test("a report after the video was watched changes nothing, and the view is paid", async () => {
    const opened = await open();
    await fixture.play(opened, 0, 10);
    expect(await nextOpening(opened)).toBe("same-ad");
    expect((await fixture.report(opened, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
    expect(await nextOpening(opened)).toBe("same-ad");
    expect(await faultsOf()).toEqual({});
  });

  test("only the current session token is accepted, not the previous one", async () => {
    const code = await fixture.issue(ann);
    const opened = await open(code);
    const foreign = await open(undefined, "1002");
    expect(await giveUp(opened, "other", foreign.token)).toMatchObject({ status: 401 });
    expect(await giveUp({ ...opened, session_id: `${fixture.botId}-${"x".repeat(25)}` })).toMatchObject({
      status: 401,
    });
    const again = await open(code);
    expect(again.session_id).toBe(opened.session_id);
    expect((await giveUp(again, "other", opened.token)).body).toMatchObject({ error: { code: "SUPERSEDED" } });
    expect((await giveUp(again, "boring" as PlaybackFault)).body).toMatchObject({ error: { code: "BAD_REQUEST" } });
    expect(await faultsOf()).toEqual({});
    expect((await open(code)).session_id).toBe(opened.session_id);
  });

  test("repeated reports earn nothing, and circumvent neither time nor limits", async () => {
    const ads = await startAdServer({ "/tag": inline() });
    await fixture.sellTag(`${ads.address}/tag`);
    const code = await fixture.issue(ann);
    for (let round = 0; round < 5; round++) {
      const { body } = await fixture.open(ann, code);
      if (body.outcome === "session") await giveUp(body as unknown as Opened);
    }
    expect(ads.callsOf("/tag")).toHaveLength(1);
    expect(await fixture.events()).toEqual([]);
    const late = await fixture.issue("1003");
    const opened = await open(late, "1003");
    fixture.advance(3600 + 601);
    expect((await giveUp(opened)).body).toMatchObject({ error: { code: "SESSION_OVER" } });
    expect((await fixture.open("1003", late)).body).toMatchObject({ error: { code: "CODE_EXPIRED" } });
  });

  test("a tester's faults call no tracker and are not counted", async () => {
    const ads = await startAdServer({ "/tag": inline() });
    await fixture.sellTag(`${ads.address}/tag`);
    const text = "update bots set testers = $2 where bot_id = $1";
    await store.database.run({ name: "", text }, [fixture.botId, [ann]]);
    expect(await nextOpening(await open())).toBe("another-ad");
    expect((await open()).ad.media_url).toBe(houseVideo);
    expect(await fixture.calls()).toEqual([]);
    expect(await faultsOf()).toEqual({});
  });
});
