import type { ProgressReport } from "@intermission/ad-core/player-api";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Opened, playedRange, wholeVideo } from "../../test/fixtures/view-fixture.ts";
import { openViewerFixture, type ViewerFixture } from "../../test/fixtures/viewer-fixture.ts";
import { migrations } from "../migrations.ts";
import { sweepViews } from "./sweep-views.ts";

const ann = "501";
const thief = "666";

interface Cheat {
  name: string;
  /** Runs after a view of Ann has begun and its start is recorded. */
  act(fixture: ViewerFixture, view: Opened, code: string): Promise<unknown>;
  /** Counts of refused reports by reason, as the publisher sees them. */
  refusals: Record<string, number>;
  acceptedMs: number;
}

const closing = { closed: "tap" as const };
const each = (reports: ProgressReport[], change: Partial<ProgressReport>) =>
  reports.map((report) => ({ ...report, ...change }));

const cheats: Cheat[] = [
  {
    name: "seeking to the end",
    act(fixture, view) {
      fixture.advance(10);
      return fixture.report(view, { reports: [playedRange(0, 0), playedRange(1, 9)], ...closing });
    },
    refusals: {},
    acceptedMs: 2000,
  },
  {
    name: "the whole video in one call",
    act: (fixture, view) => fixture.report(view, { reports: wholeVideo(), ...closing }),
    // The close allows a further second.
    refusals: { "too-early": 1, "after-close": 8 },
    acceptedMs: 1000,
  },
  {
    name: "perfect numbers at ten times the speed",
    async act(fixture, view) {
      for (let second = 0; second < 10; second++) {
        fixture.advance(0.1);
        await fixture.report(view, { reports: [playedRange(second, second)], ...closing });
      }
    },
    refusals: { "too-early": 8 },
    // One second has passed, and one second is slack.
    acceptedMs: 2000,
  },
  {
    name: "the whole video in one closing beacon whose reports the service might keep",
    async act(fixture, view) {
      await fixture.report(view, { reports: wholeVideo(), closed: "page-hidden" });
      for (let second = 0; second < 40; second++) {
        fixture.advance(1);
        await sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
      }
    },
    refusals: { "too-early": 9 },
    acceptedMs: 1000,
  },
  {
    name: "a hidden tab",
    act(fixture, view) {
      fixture.advance(10);
      return fixture.report(view, { reports: each(wholeVideo(), { visible: false }), ...closing });
    },
    refusals: { hidden: 10 },
    acceptedMs: 0,
  },
  {
    name: "a tab in the background whose throttled timers report a whole minute in one range",
    act(fixture, view) {
      fixture.advance(60);
      return fixture.report(view, { reports: [{ ...playedRange(0, 0), to_ms: 60_000 }], ...closing });
    },
    refusals: { "too-long": 1 },
    acceptedMs: 0,
  },
  {
    name: "running backwards, and beyond the end",
    act(fixture, view) {
      fixture.advance(10);
      const backwards = { ...playedRange(0, 5), to_ms: 5000 };
      return fixture.report(view, { reports: [backwards, playedRange(1, 10), playedRange(2, 300)], ...closing });
    },
    refusals: { backwards: 1, "beyond-the-end": 2 },
    acceptedMs: 0,
  },
  {
    name: "the same three reports, fifty times",
    async act(fixture, view) {
      fixture.advance(60);
      const reports = [playedRange(0, 0), playedRange(1, 1), playedRange(2, 2)];
      for (let time = 0; time < 50; time++) await fixture.report(view, { reports, ...closing });
    },
    refusals: {},
    acceptedMs: 3000,
  },
  {
    name: "the same three seconds under new sequence numbers each time",
    async act(fixture, view) {
      fixture.advance(60);
      const reports = Array.from({ length: 60 }, (_, index) => playedRange(index, index % 3));
      await fixture.report(view, { reports, ...closing });
    },
    refusals: {},
    acceptedMs: 3000,
  },
  {
    name: "a forged token",
    async act(fixture, view) {
      fixture.advance(10);
      const forged = { ...view, token: `${view.token.slice(0, -4)}AAAA` };
      const answers = [
        await fixture.report(forged, { reports: wholeVideo(), ...closing }),
        await fixture.report(forged, {}),
      ];
      expect(answers.map(({ body }) => body.error?.code)).toEqual(["SESSION_UNKNOWN", "SESSION_UNKNOWN"]);
    },
    refusals: { "wrong-token": 2 },
    acceptedMs: 0,
  },
  {
    name: "a token stolen before its owner opened the view again",
    async act(fixture, view, code) {
      await fixture.open(ann, code);
      fixture.advance(10);
      const answer = await fixture.report(view, { reports: wholeVideo(), ...closing });
      expect(answer.body.error?.code).toBe("SUPERSEDED");
    },
    refusals: { superseded: 1 },
    acceptedMs: 0,
  },
  {
    name: "a clock that steps back",
    act(fixture, view) {
      fixture.advance(-3600);
      return fixture.report(view, { reports: wholeVideo(), ...closing });
    },
    // A start in the future counts as now, so that the second of slack is accepted, which never completes a view.
    refusals: { "too-early": 1, "after-close": 8 },
    acceptedMs: 1000,
  },
];

describe("cheats", () => {
  let store: TestDatabase;
  let fixture: ViewerFixture;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openViewerFixture(store.database);
  });
  afterEach(() => fixture.close());

  test.each(cheats)("earn nothing, and the publisher can read why: $name", async ({ act, refusals, acceptedMs }) => {
    const code = await fixture.issue(ann);
    const view = await fixture.begin(ann, code);
    await fixture.report(view, { started: true });
    await act(fixture, view, code);
    fixture.advance(3600);
    expect(await fixture.events()).toEqual([]);
    expect(await fixture.charges()).toEqual([]);
    const { sessions } = await fixture.describe(code);
    expect(sessions).toMatchObject([{ accepted_ms: acceptedMs }]);
    expect(sessions[0]?.refusals).toEqual(refusals);
  });

  describe("launch data", () => {
    test("that was stolen acts as its user, and earns only for that user", async () => {
      const initData = fixture.initData(ann);
      const opened = await fixture.post("/sessions", { bot_id: fixture.botId, init_data: initData });
      const view = opened.body as unknown as Opened;
      await fixture.play(view, 0, 10);
      await fixture.report(view, closing);
      expect((await fixture.events()).map(({ user_id }) => user_id)).toEqual([ann]);
    });

    test("of one user does not open another user's code, and the attempt is recorded for that code", async () => {
      const code = await fixture.issue(ann);
      expect((await fixture.open(thief, code)).body.error?.code).toBe("CODE_OF_ANOTHER_USER");
      const { sessions, requests } = await fixture.describe(code);
      expect(sessions).toEqual([]);
      expect(requests).toEqual({ "code-of-another-user": 1 });
    });

    test.each([
      ["with another user's id", (data: string) => data.replace(ann, thief), "INIT_DATA_INVALID"],
      ["of yesterday", (_: string, old: string) => old, "INIT_DATA_EXPIRED"],
    ])("%s is refused, and leaves no row", async (_name, forge, refusal) => {
      const initData = forge(fixture.initData(ann), fixture.initData(ann, { secondsAgo: 2 * 86_400 }));
      const answer = await fixture.post("/sessions", { bot_id: fixture.botId, init_data: initData });
      expect(answer).toMatchObject({ status: 401, body: { error: { code: refusal } } });
      expect(await fixture.storedViews()).toEqual([]);
    });
  });

  test("a script that waits in real time earns exactly the daily cap, and no sooner than the cooldown allows", async () => {
    await fixture.close();
    fixture = await openViewerFixture(store.database, { cooldownSeconds: 300, dailyCap: 12 });
    const midnight = new Date("2026-03-02T00:00:00Z");
    fixture.clock.now = new Date(midnight.getTime());
    const earnedAt: number[] = [];
    for (let turn = 0; fixture.clock.now.getTime() < midnight.getTime() + 2 * 86_400_000; turn++) {
      const paid = await watchAsSoonAsAllowed(fixture, `turn-${turn}`);
      if (paid) earnedAt.push(fixture.clock.now.getTime());
    }
    const dayOf = (moment: number) => Math.floor((moment - midnight.getTime()) / 86_400_000);
    expect(Map.groupBy(earnedAt, dayOf).get(0)).toHaveLength(12);
    expect(Map.groupBy(earnedAt, dayOf).get(1)).toHaveLength(12);
    const gaps = earnedAt.slice(1).map((moment, index) => moment - (earnedAt[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(300_000);
    expect(await fixture.events()).toHaveLength(earnedAt.length);
  }, 60_000);

  test("the same script with eight codes at the same time earns no more", async () => {
    await fixture.close();
    fixture = await openViewerFixture(store.database, { cooldownSeconds: 0, dailyCap: 5 });
    const codes = await Promise.all(Array.from({ length: 8 }, (_, index) => fixture.issue(ann, `order-${index}`)));
    const opened = await Promise.all(codes.map((code) => fixture.open(ann, code)));
    const views = opened.filter(({ body }) => body.outcome === "session").map(({ body }) => body as unknown as Opened);
    for (const view of views) await fixture.report(view, { started: true });
    fixture.advance(10);
    for (const view of views) await fixture.report(view, { reports: wholeVideo(), ...closing });
    for (const code of codes) await watchWith(fixture, code);
    expect(await fixture.events()).toHaveLength(5);
  });
});

async function watchAsSoonAsAllowed(fixture: ViewerFixture, reference: string): Promise<boolean> {
  const paid = await watchWith(fixture, await fixture.issue(ann, reference));
  // Requesting every quarter of an hour for a day is enough to reach each limit.
  if (!paid) fixture.advance(900);
  return paid;
}

async function watchWith(fixture: ViewerFixture, code: string): Promise<boolean> {
  const opened = await fixture.open(ann, code);
  if (opened.body.outcome !== "session") return false;
  const view = opened.body as unknown as Opened;
  await fixture.report(view, { started: true });
  fixture.advance(10);
  const first = view.first_sequence;
  return (await fixture.report(view, { reports: wholeVideo(first), ...closing })).body.state === "rewarded";
}
