import type { ShownFrame } from "@intermission/ad-core/frame-in-view";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { wholeVideo } from "../../test/fixtures/view-fixture.ts";
import { openViewerFixture, type ViewerFixture } from "../../test/fixtures/viewer-fixture.ts";
import { migrations } from "../migrations.ts";
import { listViews } from "../reviews/review-views.ts";

const ann = "501";
const whole: ShownFrame = { in_view: 1, width: 360, height: 640, window_width: 360, window_height: 640 };

describe("an ad in a frame of the publisher's own mini-app", () => {
  let store: TestDatabase;
  let fixture: ViewerFixture;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  afterEach(() => fixture.close());

  /** Each second of the video is one range; `frameAt` says what of the frame could be seen then. */
  async function watch(frameAt: (second: number) => ShownFrame, passes = 1) {
    const view = await fixture.begin(ann, await fixture.issue(ann));
    await fixture.report(view, { started: true });
    for (let pass = 0, sequence = view.first_sequence; pass < passes; pass++) {
      for (const report of wholeVideo()) {
        fixture.advance(1);
        const second = Math.floor(report.from_ms / 1000) + pass * 10;
        const [from_ms, to_ms] = [report.from_ms + 3, report.to_ms + 3];
        const played = { ...report, from_ms, to_ms, sequence: sequence++, frame: frameAt(second) };
        await fixture.report(view, { reports: [played] });
      }
    }
    return fixture.report(view, { closed: "tap" });
  }

  test.each<[string, Partial<ShownFrame>]>([
    ["a frame of one pixel", { width: 1, height: 1 }],
    ["a frame and a window of one pixel", { width: 1, height: 1, window_width: 1, window_height: 1 }],
    ["a frame off the screen", { in_view: 0 }],
    ["a frame of which an eighth is off the screen", { in_view: 0.875 }],
    ["a banner of a third of the window", { height: 200 }],
    ["a window without a size", { window_width: 0 }],
  ])("counts none of the time of %s, and earns nothing", async (_name, frame) => {
    fixture = await openViewerFixture(store.database);
    const { body } = await watch(() => ({ ...whole, ...frame }));
    expect(body).toMatchObject({ state: "playing", accepted_ms: 0 });
    expect(await fixture.events()).toEqual([]);
    expect(await fixture.storedViews()).toMatchObject([{ progress: { refusals: { "not-in-view": 10 } } }]);
  });

  test("is paid once all of it was in view; what was played out of view before marks it", async () => {
    fixture = await openViewerFixture(store.database);
    const { body } = await watch((second) => ({ ...whole, in_view: second < 4 ? 0.2 : 1 }), 2);
    expect(body).toMatchObject({ state: "rewarded" });
    expect((await listViews(store.database, { botId: fixture.botId, limit: 5 })).rows).toMatchObject([
      { state: "rewarded", suspicions: ["not-in-view"] },
    ]);
    const filter = { botId: fixture.botId, suspicion: "not-in-view", limit: 5 };
    expect((await listViews(store.database, filter)).rows).toHaveLength(1);
  });

  test.each([
    ["pay", "rewarded", undefined, 1],
    ["hold", "watched", "held", 0],
    ["refuse", "watched", "refused", 0],
  ] as const)(
    "that something covered is marked, and the bot's setting %s decides",
    async (setting, state, review, events) => {
      fixture = await openViewerFixture(store.database, { suspiciousViews: setting });
      const { body } = await watch(() => ({ ...whole, covered: true }));
      expect({ state: body.state, review: body.review }).toEqual({ state, review });
      expect(await fixture.events()).toHaveLength(events);
      const suspicion = { suspicions: ["covered"] };
      expect((await listViews(store.database, { botId: fixture.botId, limit: 5 })).rows).toMatchObject([suspicion]);
    },
  );

  test("that fills half of the window, as beside a keyboard, is watched as any other", async () => {
    fixture = await openViewerFixture(store.database, { suspiciousViews: "refuse" });
    const { body } = await watch(() => ({ ...whole, in_view: 0.95, height: 340, covered: false }));
    expect(body).toMatchObject({ state: "rewarded" });
  });
});
