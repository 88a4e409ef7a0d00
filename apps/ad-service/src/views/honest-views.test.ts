import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HonestPlayer, openViewerFixture, type ViewerFixture } from "../../test/fixtures/viewer-fixture.ts";
import { migrations } from "../migrations.ts";
import { sweepViews } from "./sweep-views.ts";

const ann = "501";

interface Honest {
  name: string;
  watch(fixture: ViewerFixture, code: string): Promise<void>;
}

const begin = async (fixture: ViewerFixture, code: string) => new HonestPlayer(fixture, await fixture.begin(ann, code));

/** Plays to the end while no call arrives; the first call arrives after `seconds`. */
async function beginUnheard(fixture: ViewerFixture, code: string, seconds: number): Promise<HonestPlayer> {
  const player = await begin(fixture, code);
  const heardAt = fixture.clock.now.getTime() + seconds * 1000;
  while (fixture.clock.now.getTime() < heardAt) player.playOn();
  await player.send();
  while (!player.isAtEnd) player.playOn();
  return player;
}

/** Runs the sweeper each second. */
async function sweepFor(fixture: ViewerFixture, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    fixture.advance(1);
    await sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
  }
}

/** What happens to people who just want to watch. */
const honestViews: Honest[] = [
  {
    name: "a view without problems",
    async watch(fixture, code) {
      const player = await begin(fixture, code);
      await player.playToEnd();
      await player.close();
    },
  },
  {
    name: "3G: the video stalls for seconds, every other response is lost, requests take four seconds",
    async watch(fixture, code) {
      const player = await begin(fixture, code);
      for (let turn = 0; !player.isAtEnd; turn++) {
        player.playOn();
        if (turn % 3 === 1) fixture.advance(6);
        fixture.advance(turn % 2 ? 4 : 0.3);
        await player.send({ isLost: turn % 2 === 1 });
      }
      await player.close();
    },
  },
  {
    name: "a start that is recorded after eight seconds of playback",
    async watch(fixture, code) {
      const player = await begin(fixture, code);
      for (let second = 0; second < 8; second++) player.playOn();
      await player.send();
      while (!player.isAtEnd) player.playOn();
      await player.close();
    },
  },
  {
    name: "a pause of ten minutes",
    async watch(fixture, code) {
      const player = await begin(fixture, code);
      for (let second = 0; second < 4; second++) player.playOn();
      await player.send();
      fixture.advance(600);
      await player.playToEnd();
      await player.close();
    },
  },
  {
    name: "a call and minimising: hidden for a moment before playback stops, three times",
    async watch(fixture, code) {
      const player = await begin(fixture, code);
      await player.send();
      for (let call = 0; call < 3; call++) {
        player.playOn();
        player.playOn();
        player.playOn({ isVisible: false, lengthMs: 140 });
        await player.send();
        fixture.advance(120);
      }
      await player.playToEnd();
      await player.close();
    },
  },
  {
    name: "rotation: the page stays, a short range is cut at each turn",
    async watch(fixture, code) {
      const player = await begin(fixture, code);
      for (let turn = 0; !player.isAtEnd; turn++) {
        player.playOn({ lengthMs: turn % 2 ? 83 : 1017 });
        await player.send();
      }
      await player.close();
    },
  },
  {
    name: "no network except for the last beacon, with its reports in any order",
    async watch(fixture, code) {
      const player = await begin(fixture, code);
      await player.send();
      while (!player.isAtEnd) player.playOn();
      await player.send({ closed: "page-hidden", order: (reports) => reports.toReversed() });
    },
  },
  {
    name: "a beacon that arrives twice and overtakes earlier reports",
    async watch(fixture, code) {
      const player = await begin(fixture, code);
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
    async watch(fixture, code) {
      const player = await begin(fixture, code);
      for (let second = 0; second < 5; second++) player.playOn();
      await player.send();
      fixture.advance(90);
      const again = await begin(fixture, code);
      await again.playToEnd();
      await again.close();
    },
  },
  {
    name: "begun on the phone, finished on another device, while the phone keeps reporting",
    async watch(fixture, code) {
      const phone = await begin(fixture, code);
      phone.playOn();
      await phone.send();
      const tablet = await begin(fixture, code);
      phone.playOn();
      await phone.send({ isLost: true });
      await tablet.playToEnd();
      await tablet.close();
      await phone.send({ isLost: true, closed: "tap" });
    },
  },
  {
    name: "swiped away at the end, without a close",
    async watch(fixture, code) {
      await (await begin(fixture, code)).playToEnd();
      fixture.advance(16);
      await sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
    },
  },
  ...[0, 0.4, 5].map((leavesAfter) => ({
    name: `a view whose first call is 2.5 s late, left ${leavesAfter} s after the end`,
    async watch(fixture: ViewerFixture, code: string) {
      const player = await beginUnheard(fixture, code, 2.5);
      fixture.advance(leavesAfter);
      await player.send({ closed: "page-hidden" as const, isLost: true });
      await sweepFor(fixture, 5);
    },
  })),
  {
    name: "a view whose first call is 8 s late, left at the end with a beacon that arrives twice and in two parts",
    async watch(fixture, code) {
      const player = await beginUnheard(fixture, code, 8);
      await player.send({ isLost: true, order: (reports) => reports.slice(0, 6) });
      for (let time = 0; time < 2; time++) await player.send({ closed: "page-hidden", isLost: true });
      await sweepFor(fixture, 12);
    },
  },
  {
    name: "a view whose first call is 4 s late, swiped away at the end, and whose close does not arrive",
    async watch(fixture, code) {
      const player = await beginUnheard(fixture, code, 4);
      await player.send({ isLost: true });
      await sweepFor(fixture, 20);
    },
  },
  {
    name: "a view whose first call is 5 s late, left at the end, and opened again immediately",
    async watch(fixture, code) {
      const player = await beginUnheard(fixture, code, 5);
      await player.send({ closed: "page-hidden", isLost: true });
      fixture.advance(1);
      const again = await begin(fixture, code);
      again.playOn();
      await again.send();
      await sweepFor(fixture, 5);
    },
  },
  {
    name: "swiped away at the end, and opened again before the sweeper ran",
    async watch(fixture, code) {
      await (await begin(fixture, code)).playToEnd();
      fixture.advance(3);
      await fixture.open(ann, code);
    },
  },
];

describe("honest viewers", () => {
  let store: TestDatabase;
  let fixture: ViewerFixture;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    // The strictest setting: a suspicious view earns nothing.
    fixture = await openViewerFixture(store.database, { suspiciousViews: "refuse" });
  });
  afterEach(() => fixture.close());

  test.each(honestViews)("are paid exactly once: $name", async ({ watch }) => {
    const code = await fixture.issue(ann);
    await watch(fixture, code);
    const { earned, sessions } = await fixture.describe(code);
    expect({ earned: earned.map(({ event }) => event), sessions }).toMatchObject({
      earned: ["rewarded"],
      sessions: [{ state: "rewarded" }],
    });
    expect(sessions[0]?.suspicions).toBeUndefined();
    expect(await fixture.charges()).toHaveLength(1);
    expect(await fixture.viewers()).toMatchObject([{ earned_today: 1 }]);
  });
});
