import type { ProgressReport } from "@intermission/ad-core/player-api";
import { openTestDatabase, type TestDatabase, testDatabases } from "@intermission/postgres/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AdTables } from "../ad-database.ts";
import { migrations } from "../migrations.ts";
import { openViewerStage, type ViewerStage } from "../viewer-stage.ts";
import { type Opened, stretch, wholeVideo } from "./session-stage.ts";
import { sweepSessions } from "./sweep-sessions.ts";

const ann = "501";
const thief = "666";

interface Cheat {
  name: string;
  /** A session of Ann's has begun, its start is stamped. */
  act(stage: ViewerStage, session: Opened, code: string): Promise<unknown>;
  /** How many reports are refused, by reason, as the publisher reads it. */
  refusals: Record<string, number>;
  acceptedMs: number;
}

const closing = { closed: "tap" as const };
const each = (reports: ProgressReport[], change: Partial<ProgressReport>) =>
  reports.map((report) => ({ ...report, ...change }));

const cheats: Cheat[] = [
  {
    name: "seeking to the end",
    act(stage, session) {
      stage.advance(10);
      return stage.report(session, { reports: [stretch(0, 0), stretch(1, 9)], ...closing });
    },
    refusals: {},
    acceptedMs: 2000,
  },
  {
    name: "the whole video, at once",
    act: (stage, session) => stage.report(session, { reports: wholeVideo(), ...closing }),
    refusals: { "too-early": 9 },
    acceptedMs: 1000,
  },
  {
    name: "perfect numbers at ten times the speed",
    async act(stage, session) {
      for (let second = 0; second < 10; second++) {
        stage.advance(0.1);
        await stage.report(session, { reports: [stretch(second, second)], ...closing });
      }
    },
    refusals: { "too-early": 8 },
    // A second passed, and one is slack.
    acceptedMs: 2000,
  },
  {
    name: "the whole video, at once, by a closing beacon that the service could keep",
    async act(stage, session) {
      await stage.report(session, { reports: wholeVideo(), closed: "page-hidden" });
      for (let second = 0; second < 40; second++) {
        stage.advance(1);
        await sweepSessions(stage.views, { listeningSince: new Date(0), now: stage.clock.now });
      }
    },
    refusals: { "too-early": 9 },
    acceptedMs: 1000,
  },
  {
    name: "a hidden tab",
    act(stage, session) {
      stage.advance(10);
      return stage.report(session, { reports: each(wholeVideo(), { visible: false }), ...closing });
    },
    refusals: { hidden: 10 },
    acceptedMs: 0,
  },
  {
    name: "a tab in the background whose throttled timers tell of a minute at once",
    act(stage, session) {
      stage.advance(60);
      return stage.report(session, { reports: [{ ...stretch(0, 0), to_ms: 60_000 }], ...closing });
    },
    refusals: { "too-long": 1 },
    acceptedMs: 0,
  },
  {
    name: "running backwards, and beyond the end",
    act(stage, session) {
      stage.advance(10);
      const backwards = { ...stretch(0, 5), to_ms: 5000 };
      return stage.report(session, { reports: [backwards, stretch(1, 10), stretch(2, 300)], ...closing });
    },
    refusals: { backwards: 1, "beyond-the-end": 2 },
    acceptedMs: 0,
  },
  {
    name: "the same three reports, fifty times",
    async act(stage, session) {
      stage.advance(60);
      const reports = [stretch(0, 0), stretch(1, 1), stretch(2, 2)];
      for (let time = 0; time < 50; time++) await stage.report(session, { reports, ...closing });
    },
    refusals: {},
    acceptedMs: 3000,
  },
  {
    name: "the same three seconds under ever new numbers",
    async act(stage, session) {
      stage.advance(60);
      const reports = Array.from({ length: 60 }, (_, index) => stretch(index, index % 3));
      await stage.report(session, { reports, ...closing });
    },
    refusals: {},
    acceptedMs: 3000,
  },
  {
    name: "a forged token",
    async act(stage, session) {
      stage.advance(10);
      const forged = { ...session, token: `${session.token.slice(0, -4)}AAAA` };
      const answers = [
        await stage.report(forged, { reports: wholeVideo(), ...closing }),
        await stage.report(forged, {}),
      ];
      expect(answers.map(({ body }) => body.error?.code)).toEqual(["SESSION_UNKNOWN", "SESSION_UNKNOWN"]);
    },
    refusals: { "wrong-token": 2 },
    acceptedMs: 0,
  },
  {
    name: "a token that was stolen before its owner opened again",
    async act(stage, session, code) {
      await stage.open(ann, code);
      stage.advance(10);
      const answer = await stage.report(session, { reports: wholeVideo(), ...closing });
      expect(answer.body.error?.code).toBe("SUPERSEDED");
    },
    refusals: { superseded: 1 },
    acceptedMs: 0,
  },
  {
    name: "a clock that steps back",
    act(stage, session) {
      stage.advance(-3600);
      return stage.report(session, { reports: wholeVideo(), ...closing });
    },
    refusals: { "too-early": 10 },
    acceptedMs: 0,
  },
];

describe.each(testDatabases())("cheats, on the %s store", (kind) => {
  let store: TestDatabase<AdTables>;
  let stage: ViewerStage;

  beforeAll(async () => {
    store = await openTestDatabase<AdTables>({ kind, schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    stage = await openViewerStage(store.database);
  });
  afterEach(() => stage.close());

  test.each(cheats)("earn nothing, and the publisher reads why: $name", async ({ act, refusals, acceptedMs }) => {
    const code = await stage.issue(ann);
    const session = await stage.begin(ann, code);
    await stage.report(session, { started: true });
    await act(stage, session, code);
    stage.advance(3600);
    expect(await stage.events()).toEqual([]);
    expect(await stage.charges()).toEqual([]);
    const { sessions } = await stage.describe(code);
    expect(sessions).toMatchObject([{ accepted_ms: acceptedMs }]);
    expect(sessions[0]?.refusals).toEqual(refusals);
  });

  describe("launch data", () => {
    test("that was stolen acts as its user, and earns for its user only", async () => {
      const initData = stage.initData(ann);
      const opened = await stage.post("/sessions", { bot_id: stage.botId, init_data: initData });
      const session = opened.body as unknown as Opened;
      await stage.play(session, 0, 10);
      await stage.report(session, closing);
      expect((await stage.events()).map(({ user_id }) => user_id)).toEqual([ann]);
    });

    test("of one user opens no code of another's, and the code's owner is told", async () => {
      const code = await stage.issue(ann);
      expect((await stage.open(thief, code)).body.error?.code).toBe("CODE_OF_ANOTHER_USER");
      const { sessions, requests } = await stage.describe(code);
      expect(sessions).toEqual([]);
      expect(requests).toEqual({ "code-of-another-user": 1 });
    });

    test.each([
      ["with another user in it", (data: string) => data.replace(ann, thief), "INIT_DATA_INVALID"],
      ["of yesterday", (_: string, old: string) => old, "INIT_DATA_EXPIRED"],
    ])("%s is refused, and leaves no row", async (_name, forge, refusal) => {
      const initData = forge(stage.initData(ann), stage.initData(ann, { secondsAgo: 2 * 86_400 }));
      const answer = await stage.post("/sessions", { bot_id: stage.botId, init_data: initData });
      expect(answer).toMatchObject({ status: 401, body: { error: { code: refusal } } });
      expect(await stage.sessions()).toEqual([]);
    });
  });

  test("a patient script that waits in real time earns what the daily cap gives, and no sooner than the cooldown", async () => {
    await stage.close();
    stage = await openViewerStage(store.database, { cooldownSeconds: 300, dailyCap: 12 });
    const midnight = new Date("2026-03-02T00:00:00Z");
    stage.clock.now = new Date(midnight.getTime());
    const earnedAt: number[] = [];
    for (let turn = 0; stage.clock.now.getTime() < midnight.getTime() + 2 * 86_400_000; turn++) {
      const paid = await watchAsSoonAsAllowed(stage, `turn-${turn}`);
      if (paid) earnedAt.push(stage.clock.now.getTime());
    }
    const dayOf = (moment: number) => Math.floor((moment - midnight.getTime()) / 86_400_000);
    expect(Map.groupBy(earnedAt, dayOf).get(0)).toHaveLength(12);
    expect(Map.groupBy(earnedAt, dayOf).get(1)).toHaveLength(12);
    const gaps = earnedAt.slice(1).map((moment, index) => moment - (earnedAt[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(300_000);
    expect(await stage.events()).toHaveLength(earnedAt.length);
  }, 60_000);

  test("the same script with eight codes at once earns no more", async () => {
    await stage.close();
    stage = await openViewerStage(store.database, { cooldownSeconds: 0, dailyCap: 5 });
    const codes = await Promise.all(Array.from({ length: 8 }, (_, index) => stage.issue(ann, `order-${index}`)));
    const opened = await Promise.all(codes.map((code) => stage.open(ann, code)));
    const sessions = opened
      .filter(({ body }) => body.outcome === "session")
      .map(({ body }) => body as unknown as Opened);
    for (const session of sessions) await stage.report(session, { started: true });
    stage.advance(10);
    for (const session of sessions) await stage.report(session, { reports: wholeVideo(), ...closing });
    for (const code of codes) await watchWith(stage, code);
    expect(await stage.events()).toHaveLength(5);
  });
});

async function watchAsSoonAsAllowed(stage: ViewerStage, reference: string): Promise<boolean> {
  const paid = await watchWith(stage, await stage.issue(ann, reference));
  // A day of asking each quarter of an hour is enough to meet each limit.
  if (!paid) stage.advance(900);
  return paid;
}

async function watchWith(stage: ViewerStage, code: string): Promise<boolean> {
  const opened = await stage.open(ann, code);
  if (opened.body.outcome !== "session") return false;
  const session = opened.body as unknown as Opened;
  await stage.report(session, { started: true });
  stage.advance(10);
  const first = session.first_sequence;
  return (await stage.report(session, { reports: wholeVideo(first), ...closing })).body.state === "rewarded";
}
