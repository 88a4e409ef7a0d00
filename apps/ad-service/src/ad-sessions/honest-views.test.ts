import { openTestDatabase, type TestDatabase, testDatabases } from "@intermission/postgres/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AdTables } from "../ad-database.ts";
import { migrations } from "../migrations.ts";
import { HonestPlayer, openViewerStage, type ViewerStage } from "../viewer-stage.ts";
import { sweepSessions } from "./sweep-sessions.ts";

const ann = "501";

interface Honest {
  name: string;
  watch(stage: ViewerStage, code: string): Promise<void>;
}

const begin = async (stage: ViewerStage, code: string) => new HonestPlayer(stage, await stage.begin(ann, code));

/** Plays to the end while no call arrives, until the first one does after so many seconds. */
async function beginUnheard(stage: ViewerStage, code: string, seconds: number): Promise<HonestPlayer> {
  const player = await begin(stage, code);
  const heardAt = stage.clock.now.getTime() + seconds * 1000;
  while (stage.clock.now.getTime() < heardAt) player.playOn();
  await player.send();
  while (!player.isAtEnd) player.playOn();
  return player;
}

/** The sweeper comes each second. */
async function sweepFor(stage: ViewerStage, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    stage.advance(1);
    await sweepSessions(stage.views, { listeningSince: new Date(0), now: stage.clock.now });
  }
}

/** What happens to people who only want to watch. */
const honestViews: Honest[] = [
  {
    name: "a view without any trouble",
    async watch(stage, code) {
      const player = await begin(stage, code);
      await player.playToEnd();
      await player.close();
    },
  },
  {
    name: "3G: the video stalls for seconds, each other answer is lost, requests take four seconds",
    async watch(stage, code) {
      const player = await begin(stage, code);
      for (let turn = 0; !player.isAtEnd; turn++) {
        player.playOn();
        if (turn % 3 === 1) stage.advance(6);
        stage.advance(turn % 2 ? 4 : 0.3);
        await player.send({ isLost: turn % 2 === 1 });
      }
      await player.close();
    },
  },
  {
    name: "a start stamp that came after eight seconds of playback",
    async watch(stage, code) {
      const player = await begin(stage, code);
      for (let second = 0; second < 8; second++) player.playOn();
      await player.send();
      while (!player.isAtEnd) player.playOn();
      await player.close();
    },
  },
  {
    name: "a pause of ten minutes",
    async watch(stage, code) {
      const player = await begin(stage, code);
      for (let second = 0; second < 4; second++) player.playOn();
      await player.send();
      stage.advance(600);
      await player.playToEnd();
      await player.close();
    },
  },
  {
    name: "a call and minimising: out of sight for a moment before playback stops, three times",
    async watch(stage, code) {
      const player = await begin(stage, code);
      await player.send();
      for (let call = 0; call < 3; call++) {
        player.playOn();
        player.playOn();
        player.playOn({ isVisible: false, lengthMs: 140 });
        await player.send();
        stage.advance(120);
      }
      await player.playToEnd();
      await player.close();
    },
  },
  {
    name: "rotation: the page stays, a short stretch is cut at each turn",
    async watch(stage, code) {
      const player = await begin(stage, code);
      for (let turn = 0; !player.isAtEnd; turn++) {
        player.playOn({ lengthMs: turn % 2 ? 83 : 1017 });
        await player.send();
      }
      await player.close();
    },
  },
  {
    name: "no network but for the last beacon, with its reports in any order",
    async watch(stage, code) {
      const player = await begin(stage, code);
      await player.send();
      while (!player.isAtEnd) player.playOn();
      await player.send({ closed: "page-hidden", order: (reports) => reports.toReversed() });
    },
  },
  {
    name: "a beacon that comes twice and overtakes the reports before it",
    async watch(stage, code) {
      const player = await begin(stage, code);
      await player.send();
      while (!player.isAtEnd) player.playOn();
      const overtaking = { closed: "page-hidden" as const, isLost: true };
      await player.send({ ...overtaking, order: (reports) => reports.slice(-3) });
      await player.send({ ...overtaking, order: (reports) => reports.slice(-3) });
      await player.send();
    },
  },
  {
    name: "opened again in the middle, after the page was lost",
    async watch(stage, code) {
      const player = await begin(stage, code);
      for (let second = 0; second < 5; second++) player.playOn();
      await player.send();
      stage.advance(90);
      const again = await begin(stage, code);
      await again.playToEnd();
      await again.close();
    },
  },
  {
    name: "begun on the phone, finished on another device, while the phone reports on",
    async watch(stage, code) {
      const phone = await begin(stage, code);
      phone.playOn();
      await phone.send();
      const tablet = await begin(stage, code);
      phone.playOn();
      await phone.send({ isLost: true });
      await tablet.playToEnd();
      await tablet.close();
      await phone.send({ isLost: true, closed: "tap" });
    },
  },
  {
    name: "swiped away at the end: nobody closes",
    async watch(stage, code) {
      await (await begin(stage, code)).playToEnd();
      stage.advance(16);
      await sweepSessions(stage.views, { listeningSince: new Date(0), now: stage.clock.now });
    },
  },
  ...[0, 0.4, 5].map((leavesAfter) => ({
    name: `first heard of 2.5 s late, and left ${leavesAfter} s after the end`,
    async watch(stage: ViewerStage, code: string) {
      const player = await beginUnheard(stage, code, 2.5);
      stage.advance(leavesAfter);
      await player.send({ closed: "page-hidden" as const, isLost: true });
      await sweepFor(stage, 5);
    },
  })),
  {
    name: "first heard of 8 s late, left at the end by a beacon that came twice and in two parts",
    async watch(stage, code) {
      const player = await beginUnheard(stage, code, 8);
      await player.send({ isLost: true, order: (reports) => reports.slice(0, 6) });
      for (let time = 0; time < 2; time++) await player.send({ closed: "page-hidden", isLost: true });
      await sweepFor(stage, 12);
    },
  },
  {
    name: "first heard of 4 s late, and swiped away at the end without a close that arrives",
    async watch(stage, code) {
      const player = await beginUnheard(stage, code, 4);
      await player.send({ isLost: true });
      await sweepFor(stage, 20);
    },
  },
  {
    name: "first heard of 5 s late, left at the end, and opened again at once",
    async watch(stage, code) {
      const player = await beginUnheard(stage, code, 5);
      await player.send({ closed: "page-hidden", isLost: true });
      stage.advance(1);
      const again = await begin(stage, code);
      again.playOn();
      await again.send();
      await sweepFor(stage, 5);
    },
  },
  {
    name: "swiped away at the end, and opened again before anybody noticed",
    async watch(stage, code) {
      await (await begin(stage, code)).playToEnd();
      stage.advance(3);
      await stage.open(ann, code);
    },
  },
];

describe.each(testDatabases())("honest viewers, on the %s store", (kind) => {
  let store: TestDatabase<AdTables>;
  let stage: ViewerStage;

  beforeAll(async () => {
    store = await openTestDatabase<AdTables>({ kind, schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    // The strictest setting: what looks wrong earns nothing.
    stage = await openViewerStage(store.database, { suspiciousViews: "refuse" });
  });
  afterEach(() => stage.close());

  test.each(honestViews)("are paid, once: $name", async ({ watch }) => {
    const code = await stage.issue(ann);
    await watch(stage, code);
    const { earned, sessions } = await stage.describe(code);
    expect({ earned: earned.map(({ event }) => event), sessions }).toMatchObject({
      earned: ["rewarded"],
      sessions: [{ state: "rewarded" }],
    });
    expect(sessions[0]?.suspicions).toBeUndefined();
    expect(await stage.charges()).toHaveLength(1);
    expect(await stage.viewers()).toMatchObject([{ earned_today: 1 }]);
  });
});
