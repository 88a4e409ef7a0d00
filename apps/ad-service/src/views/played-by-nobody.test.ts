import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Opened, playedRange, wholeVideo } from "../../test/fixtures/view-fixture.ts";
import { HonestPlayer, openViewerFixture, type ViewerFixture } from "../../test/fixtures/viewer-fixture.ts";
import { migrations } from "../migrations.ts";
import { sweepViews } from "./sweep-views.ts";

const ann = "501";
const closing = { closed: "tap" as const };
/** Also what the server holds for a bot that neither holds nor refuses views. */
const setting = { suspiciousViews: "pay" as const };

describe("a view that nobody plays", () => {
  let store: TestDatabase;
  let fixture: ViewerFixture;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openViewerFixture(store.database, setting);
  });
  afterEach(() => fixture.close());

  const begin = async (reference?: string) => fixture.begin(ann, await fixture.issue(ann, reference));
  async function sweepFor(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      fixture.advance(1);
      await sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
    }
  }
  /** The fixture's video lasts 10 s. */
  async function shorten(view: Opened, durationMs: number): Promise<void> {
    const text = "update views set duration_ms = $2, version = version + 1 where view_id = $1";
    await store.database.run({ name: "", text }, [view.session_id, durationMs]);
    fixture.views.remembered.delete(view.session_id);
  }
  async function suspicions(): Promise<unknown[]> {
    const text = "select suspicions from views where bot_id = $1 and state = 'rewarded'";
    const rows = await store.database.run<{ suspicions: string[] }>({ name: "", text }, [fixture.botId]);
    return rows.map((row) => row.suspicions ?? []);
  }

  test.each(["tap", "page-hidden"] as const)(
    "of which one call (%s) is all that the server hears is paid no sooner than it lasts, and marked",
    async (closed) => {
      for (const silent of [1, 8, 9]) {
        const view = await begin(`order-${silent}`);
        fixture.advance(silent);
        await fixture.report(view, { started: true, reports: wholeVideo(), closed });
        // The sweeper settles what waits for the clock, a second at most.
        fixture.clock.now = new Date(fixture.clock.now.getTime() - 1);
        await sweepFor(silent === 8 ? 1 : 40);
        expect(await fixture.events()).toHaveLength(silent === 9 ? 1 : 0);
      }
      expect(await suspicions()).toMatchObject([expect.arrayContaining(["too-few-calls"])]);
    },
  );

  test.each([
    { silent: 0, paid: 0 },
    { silent: 0.4, paid: 0 },
    { silent: 11, paid: 1 },
  ])("of a clip of one second, whose one call comes $silent s after the opening, is paid $paid times", async (clip) => {
    const view = await begin();
    await shorten(view, 1000);
    fixture.advance(clip.silent);
    await fixture.report(view, { started: true, reports: [playedRange(0, 0)], ...closing });
    await sweepFor(40);
    expect(await fixture.events()).toHaveLength(clip.paid);
  });

  test.each([
    { name: "when they come without a close", again: {} },
    { name: "when the close is repeated", again: closing },
    { name: "when they come by beacon", again: { closed: "page-hidden" as const } },
  ])("after its close, ranges of the time that follows are not credited: $name", async ({ again }) => {
    for (const waited of [8, 40]) {
      const view = await begin(`order-${waited}`);
      await fixture.report(view, { started: true });
      fixture.advance(3);
      await fixture.report(view, { reports: wholeVideo().slice(0, 3), ...closing });
      fixture.advance(waited);
      await fixture.report(view, { reports: wholeVideo().slice(3), ...again });
      await sweepFor(40);
    }
    expect(await fixture.events()).toEqual([]);
  });

  test("the time between a close and the next opening is not credited either", async () => {
    const view = await begin("order");
    await fixture.report(view, { started: true });
    fixture.advance(3);
    await fixture.report(view, { reports: wholeVideo().slice(0, 3), ...closing });
    fixture.advance(8);
    const again = await begin("order");
    const rest = Array.from({ length: 7 }, (_, index) => playedRange(again.first_sequence + index, index + 3));
    await fixture.report(again, { started: true, reports: rest, ...closing });
    await sweepFor(40);
    expect(await fixture.events()).toEqual([]);
  });

  test.each([
    { name: "their calls come at the end", everySecond: false },
    { name: "their calls come each second", everySecond: true },
  ])("four ads in four windows at once are one at most: $name", async ({ everySecond }) => {
    const views: Opened[] = [];
    for (let window = 0; window < 4; window++) {
      const view = await begin(`window-${window}`);
      await fixture.report(view, { started: true });
      views.push(view);
    }
    expect(await fixture.storedViews()).toHaveLength(4);
    for (let second = 0; second < 10; second++) {
      fixture.advance(1);
      const reports = wholeVideo().slice(0, second + 1);
      if (everySecond) for (const view of views) await fixture.report(view, { reports });
    }
    for (const view of views) await fixture.report(view, { reports: wholeVideo(), ...closing });
    await sweepFor(60);
    expect((await fixture.events()).length).toBeLessThanOrEqual(1);
  });

  test.each([
    { name: "all of it with the closing tap", parts: [10] },
    { name: "a second of it, and the rest with the closing tap", parts: [1, 9] },
    { name: "nearly all of it with a late start, the rest a moment later", parts: [] },
  ])("is marked when fewer calls reported it than it has quartiles: $name", async ({ parts }) => {
    const view = await begin();
    let from = 0;
    if (parts.length === 0) {
      fixture.advance(9.5);
      await fixture.report(view, { started: true, reports: wholeVideo().slice(0, 8) });
      await fixture.report(view, { reports: [{ ...playedRange(8, 8), to_ms: 8900 }] });
      fixture.advance(0.5);
      await fixture.report(view, { reports: [{ ...playedRange(9, 8), to_ms: 10_000 }], ...closing });
      from = 10;
    } else await fixture.report(view, { started: true });
    for (const [index, part] of parts.entries()) {
      fixture.advance(part);
      const isLast = index === parts.length - 1;
      await fixture.report(view, { reports: wholeVideo().slice(from, from + part), ...(isLast && closing) });
      from += part;
    }
    await sweepFor(20);
    expect(await fixture.events()).toHaveLength(1);
    expect(await suspicions()).toMatchObject([expect.arrayContaining(["too-few-calls"])]);
  });

  test("a page that was hidden and comes back plays on, from the moment at which it comes back", async () => {
    const player = new HonestPlayer(fixture, await begin());
    await player.send();
    for (let second = 0; second < 4; second++) player.playOn();
    await player.send({ closed: "page-hidden" });
    fixture.advance(60);
    for (let second = 0; second < 3; second++) player.playOn();
    await player.send();
    while (!player.isAtEnd) player.playOn();
    await player.close();
    expect(await fixture.events()).toHaveLength(1);
    expect(await suspicions()).toEqual([[]]);
  });
});
