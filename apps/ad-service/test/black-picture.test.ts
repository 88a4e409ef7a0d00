import { openSessionResponse, type ReportRequest } from "@intermission/ad-core/player-api";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { sweepViews } from "../src/views/sweep-views.ts";
import { startAdServer } from "./fixtures/ad-server-fixture.ts";
import { inline } from "./fixtures/sample-ad-server.ts";
import { openVastFixture } from "./fixtures/vast-fixture.ts";
import { type Opened, wholeVideo } from "./fixtures/view-fixture.ts";

const ann = "1001";
const picture = { width: 320, height: 180 };
/** What a browser reports of a file whose picture it does not decode. */
const black = (report: ReportRequest["reports"][number]) => ({ ...report, rendered_frames: 0 });

describe("a view without a picture", () => {
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

  async function openTag() {
    const ads = await startAdServer({ "/tag": inline() });
    await fixture.sellTag(`${ads.address}/tag`, { viewPriceMicros: 700 });
    return { ads, opened: await open() };
  }

  async function open(): Promise<Opened & { ad: { media_url: string } }> {
    const opened = openSessionResponse.parse((await fixture.open(ann)).body);
    if (opened.outcome !== "session") throw new Error(opened.outcome);
    return opened;
  }

  /** Neither paid nor charged, no `complete`, the code 405 once, and another ad in its place. */
  async function expectNothingFor({ ads, opened }: Awaited<ReturnType<typeof openTag>>) {
    expect((await fixture.report(opened, { closed: "tap" })).body).toMatchObject({ error: { code: "SESSION_OVER" } });
    fixture.advance(40);
    await sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
    await fixture.callTrackers();
    expect([await fixture.events(), await fixture.charges()]).toEqual([[], []]);
    expect(ads.callsOf("/inline/error")).toEqual(["/inline/error?code=405"]);
    expect(ads.callsOf("/inline/complete")).toEqual([]);
    expect((await open()).ad.media_url).toBe("http://ads.test/media/ab.mp4");
  }

  test("that its player reports as not displayed earns nothing, whatever is reported afterwards", async () => {
    const tag = await openTag();
    await fixture.play(tag.opened, 0, 4);
    await fixture.post(`/sessions/${tag.opened.session_id}/faults`, {
      token: tag.opened.token,
      fault: "not-displayed",
    });
    fixture.advance(6);
    const late = await fixture.report(tag.opened, { reports: wholeVideo(), picture });
    expect(late.body).toMatchObject({ error: { code: "SESSION_OVER" } });
    await expectNothingFor(tag);
  });

  test("whose close waited for its reports when the fault came is not settled", async () => {
    const tag = await openTag();
    await fixture.report(tag.opened, { started: true });
    fixture.advance(8.5);
    const closed = await fixture.report(tag.opened, { reports: wholeVideo(), closed: "page-hidden" });
    expect(closed.body).toMatchObject({ state: "playing", too_early: expect.anything() });
    await fixture.post(`/sessions/${tag.opened.session_id}/faults`, {
      token: tag.opened.token,
      fault: "not-displayed",
    });
    await expectNothingFor(tag);
  });

  test("whose player reports a picture of no size ends with its first call, and calls no impression", async () => {
    const tag = await openTag();
    const none = { width: 0, height: 0 };
    const started = await fixture.report(tag.opened, { started: true, picture: none });
    expect(started.body).toMatchObject({ error: { code: "SESSION_OVER" } });
    await expectNothingFor(tag);
    expect(tag.ads.callsOf("/inline/impression")).toEqual([]);
  });

  test("of a tag's file that rendered no frame is not paid, also if its player reports no size", async () => {
    const tag = await openTag();
    await fixture.report(tag.opened, { started: true });
    fixture.advance(10);
    const ended = await fixture.report(tag.opened, { reports: wholeVideo().map(black), closed: "tap" });
    expect(ended.body).toMatchObject({ error: { code: "SESSION_OVER" } });
    await expectNothingFor(tag);
  });

  test("of a tag's file, closed by a beacon whose reports came too early, is not settled later", async () => {
    const tag = await openTag();
    await fixture.report(tag.opened, { started: true });
    fixture.advance(8.5);
    const closed = await fixture.report(tag.opened, { reports: wholeVideo().map(black), closed: "page-hidden" });
    expect(closed.body).toMatchObject({ state: "playing", too_early: expect.anything() });
    fixture.advance(1);
    await sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
    expect(await fixture.events()).toEqual([]);
    const again = await fixture.report(tag.opened, { reports: wholeVideo().map(black) });
    expect(again.body).toMatchObject({ error: { code: "SESSION_OVER" } });
    await expectNothingFor(tag);
  });

  test.each<[string, Partial<ReportRequest>]>([
    ["a still picture, of which the player counts no further frame", { picture, reports: wholeVideo().map(black) }],
    ["a player that counts no frames and reports no size", { reports: wholeVideo() }],
    [
      "a slide show: one frame in the whole view",
      { reports: wholeVideo().map((report, index) => ({ ...report, rendered_frames: index === 5 ? 1 : 0 })) },
    ],
  ])("is told from an honest one: %s is paid", async (_name, call) => {
    const { opened } = await openTag();
    await fixture.report(opened, { started: true, ...(call.picture && { picture }) });
    fixture.advance(10);
    expect((await fixture.report(opened, { ...call, closed: "tap" })).body).toMatchObject({ state: "rewarded" });
    expect(await fixture.charges()).toMatchObject([{ price_micros: 700 }]);
  });
});
