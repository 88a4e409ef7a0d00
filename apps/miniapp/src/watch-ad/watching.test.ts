import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Network, simulatePage } from "../../test/simulated-page.ts";
import type { Host } from "../telegram/host.ts";
import { leaveInterstitial } from "./interstitial.tsx";
import { rememberSound } from "./sound-choice.ts";
import { type Session, Watching } from "./watching.ts";

beforeEach(() => {
  vi.useFakeTimers();
  rememberSound(false);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** A tick of the player, and the playback before the page gets the `playing` event. */
const TICK_MS = 250;
const UNCOUNTED_MS = 100;
/** Worst case: the last call hangs until its timeout and is retried after the longest backoff. */
const MAX_SILENCE_MS = 20_000;

function openAd({ durationMs, skipAfterMs }: { durationMs: number; skipAfterMs?: number }) {
  // Timers of earlier pages must not affect this one.
  vi.clearAllTimers();
  const page = simulatePage({ durationMs });
  const session = { ...sessionOf(durationMs), ...(skipAfterMs !== undefined && { skip_after_ms: skipAfterMs }) };
  page.service.chargedAfterMs = skipAfterMs;
  const watching = new Watching(session, page.video as unknown as HTMLVideoElement, idleHost);
  // As strict mode does: mounts, unmounts and mounts again.
  watching.start(nothing)();
  const stop = watching.start(nothing);
  return {
    ...page,
    watching,
    session,
    stage: () => watching.snapshot.stage,
    tapPlay(): void {
      page.touch();
      watching.play();
    },
    kill(): void {
      page.kill();
      stop();
    },
    /** The page can only send beacons any more. */
    swipe({ isHiddenFirst }: { isHiddenFirst: boolean }): void {
      if (isHiddenFirst) page.hide();
      page.leave();
      this.kill();
    },
  };
}

type Opened = ReturnType<typeof openAd>;

function sessionOf(durationMs: number): Session {
  const media = { media_url: "https://ads.example/a.mp4", media_type: "video/mp4", width: 640, height: 360 };
  return {
    outcome: "session",
    bot: { bot_id: "7000000001", name: "Coin Garden" },
    session_id: "ses_1",
    token: "token",
    code: "4YQm3XkT7vRbN2hWpz",
    state: "opened",
    ad: { advertiser: "Hillside Tea", duration_ms: durationMs, ...media },
    accepted_ms: 0,
    resume_at_ms: 0,
    first_sequence: 0,
    server_time: "2030-01-01T00:00:00Z",
    deadline: "2030-01-01T01:00:00Z",
  };
}

const nothing = () => {};
const idleHost: Host = {
  ready: nothing,
  close: nothing,
  haptic: nothing,
  holdOpen: nothing,
  openLink: () => false,
  openTelegramLink: () => false,
  immerse: () => nothing,
  onBack: () => nothing,
  onVisibility: () => nothing,
};

async function watchAndClose(page: Opened, durationMs: number): Promise<void> {
  page.tapPlay();
  await page.wait(durationMs + 500);
  page.watching.close();
  await page.wait(500);
}

describe("how often a player calls", () => {
  test.each([
    { durationMs: 1000, most: 4 },
    { durationMs: 2000, most: 4 },
    { durationMs: 10_000, most: 6 },
    { durationMs: 30_000, most: 10 },
    { durationMs: 60_000, most: 14 },
  ])("a view of $durationMs ms makes at most $most calls from its start to its close", async ({ durationMs, most }) => {
    const page = openAd({ durationMs });
    await watchAndClose(page, durationMs);
    expect(page.service.state).toBe("rewarded");
    expect(page.calls.length).toBeLessThanOrEqual(most);
    expect(page.calls[0]).toMatchObject({ started: true, reports: [] });
    expect(page.calls.at(-1)).toMatchObject({ closed: "tap", reports: [] });
    expect(page.calls.every(({ by }) => by === "fetch")).toBe(true);
  });

  test("a view of 30 s is reported at its start, each quartile and its end, at most 5 s after the previous call", async () => {
    const page = openAd({ durationMs: 30_000 });
    await watchAndClose(page, 30_000);
    const reached = page.calls.map(({ reports }) => reports.at(-1)?.to_ms ?? 0);
    for (const quartile of [7500, 15_000, 22_500, 30_000]) {
      expect(reached.some((position) => position >= quartile && position < quartile + TICK_MS)).toBe(true);
    }
    const gaps = page.calls.slice(1).map(({ atMs }, index) => atMs - (page.calls[index]?.atMs ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(5000);
  });

  test.each([1000, 2000, 5000, 10_000])(
    "a view of %i ms is watched within one call after its end",
    async (durationMs) => {
      const page = openAd({ durationMs });
      page.tapPlay();
      await page.wait(durationMs);
      expect(page.stage()).toBe("confirming");
      await page.wait(250);
      expect(page.stage()).toBe("watched");
    },
  );

  test("a watched view sends a heartbeat every 5 s", async () => {
    const page = openAd({ durationMs: 2000 });
    page.tapPlay();
    await page.wait(2500);
    const before = page.calls.length;
    await page.wait(20_000);
    expect(page.calls.length - before).toBe(4);
  });
});

describe("a view that was watched to its end is paid, however its calls are lost", () => {
  const moments = { "before the tap": 0, "after the start": 500, "in the middle": 5200, "at the end": 10_100 };
  const faults = ["request-lost", "answer-lost", "hangs", "busy"] as const satisfies readonly Network[];
  /** The view is over after 10 s; each way to leave it takes place at 10.2 s or when the service has confirmed it. */
  const ways = {
    "closed while it is being confirmed": async (page: Opened) => page.watching.close(),
    "closed once it is confirmed": async (page: Opened) => {
      await page.wait(MAX_SILENCE_MS);
      page.watching.close();
    },
    "left while it is being confirmed": async (page: Opened) => {
      page.hide();
      page.leave();
    },
    "hidden while it is being confirmed, and closed after the return": async (page: Opened) => {
      page.hide();
      await page.wait(2000);
      page.show();
      await page.wait(MAX_SILENCE_MS);
      page.watching.close();
    },
  };
  const backAfter = { "at once": 0, "after 3 s": 3000, "after a minute": 60_000 };

  for (const [way, leave] of Object.entries(ways)) {
    for (const [when, atMs] of Object.entries(moments)) {
      // In the middle is also at the end: the fault lasts. The other moments vary it.
      const tags = when === "in the middle" ? [] : ["long"];
      test.each(faults)(`${way}; the network fails ${when}: %s`, { tags }, async (fault) => {
        for (const afterMs of Object.values(backAfter)) {
          const page = openAd({ durationMs: 10_000 });
          await page.wait(1000);
          if (atMs === 0) page.setNetwork(fault);
          page.tapPlay();
          await page.wait(atMs);
          page.setNetwork(fault);
          await page.wait(10_200 - atMs);
          expect(["confirming", "watched"]).toContain(page.stage());
          const isLeft = leave(page);
          await page.wait(afterMs);
          page.setNetwork("fine");
          await page.wait(MAX_SILENCE_MS + 2000);
          await isLeft;
          await page.wait(MAX_SILENCE_MS);
          expect(page.service.state).toBe("rewarded");
          expect(page.service.refused).toEqual([]);
        }
      });
    }
  }
});

describe("an event that ends a range is reported immediately", () => {
  const playing = async () => {
    const page = openAd({ durationMs: 30_000 });
    page.tapPlay();
    await page.wait(2000);
    return { page, before: page.calls.length };
  };
  const callsSince = ({ calls }: Opened, since: number) =>
    calls.slice(since).map(({ by, reports }) => ({ by, reports }));
  const range = expect.objectContaining({ from_ms: 0, to_ms: expect.closeTo(2000, -2), visible: true, muted: true });

  test("a pause", async () => {
    const { page, before } = await playing();
    page.watching.pause();
    await page.wait(10);
    expect(callsSince(page, before)).toEqual([{ by: "fetch", reports: [range] }]);
  });

  test("sound", async () => {
    const { page, before } = await playing();
    page.watching.setMuted(false);
    await page.wait(10);
    expect(callsSince(page, before)).toEqual([{ by: "fetch", reports: [range] }]);
  });

  test("hiding the page, also by beacon", async () => {
    const { page, before } = await playing();
    page.hide();
    expect(callsSince(page, before)).toEqual([
      { by: "fetch", reports: [range] },
      { by: "beacon", reports: [range] },
    ]);
    expect(page.video.paused).toBe(true);
  });

  test("closing the page, also without an earlier signal", async () => {
    const { page, before } = await playing();
    page.swipe({ isHiddenFirst: false });
    expect(page.calls.slice(before).at(-1)).toMatchObject({ by: "beacon", reports: [range], closed: "page-hidden" });
  });
});

describe("a video without a picture", () => {
  /** A browser that reports each shown frame to who asks for the next one. */
  const reportFrames = ({ video }: Opened, framesMs: readonly number[]) =>
    Object.assign(video, {
      requestVideoFrameCallback(tell: () => void) {
        const next = framesMs.find((atMs) => atMs > video.currentTime * 1000);
        if (next !== undefined) setTimeout(tell, next - video.currentTime * 1000);
        return 1;
      },
      getVideoPlaybackQuality: () => ({ totalVideoFrames: 0 }),
    });
  const resize = ({ video }: Opened, width: number, height: number) =>
    Object.assign(video, { videoWidth: width, videoHeight: height }).dispatchEvent(new Event("resize"));

  test.each([1000, 2000, 30_000])(
    "of %i ms that the browser does not decode is given up; nothing of it was told",
    async (durationMs) => {
      const page = openAd({ durationMs });
      resize(page, 0, 0);
      page.tapPlay();
      await page.wait(1000);
      expect(page.faults).toEqual(["not-displayed"]);
      expect(page.stage()).toBe("broken");
      page.swipe({ isHiddenFirst: true });
      await page.wait(durationMs);
      expect(page.calls).toEqual([]);
    },
  );

  test("of which no frame is shown is given up after a second, although its size is known", async () => {
    const page = openAd({ durationMs: 30_000 });
    reportFrames(page, []);
    page.watching.start(nothing);
    page.tapPlay();
    await page.wait(1500);
    expect(page.faults).toEqual(["not-displayed"]);
    expect(page.stage()).toBe("broken");
    expect(page.service.state).not.toBe("watched");
  });

  test("is told from one whose size arrives late: its start is told, and all of it counts", async () => {
    const page = openAd({ durationMs: 2000 });
    resize(page, 0, 0);
    page.tapPlay();
    await page.wait(400);
    expect(page.calls).toEqual([]);
    resize(page, 640, 360);
    await page.wait(2500);
    expect(page.calls[0]).toMatchObject({ started: true, picture: { width: 640, height: 360 } });
    expect(page.service.unreportedMs([[0, 2000]])).toBeLessThanOrEqual(UNCOUNTED_MS);
    expect(page.stage()).toBe("watched");
  });

  test("a size that is known before the first frame starts nothing", async () => {
    const page = openAd({ durationMs: 30_000 });
    Object.assign(page.video, { readyState: 1 });
    page.tapPlay();
    resize(page, 640, 360);
    await page.wait(10);
    expect(page.calls).toEqual([]);
    await page.wait(100);
    expect(page.calls).toMatchObject([{ started: true }]);
  });

  test("is told from a still picture: one frame is enough", async () => {
    const page = openAd({ durationMs: 30_000 });
    reportFrames(page, [40]);
    page.watching.start(nothing);
    page.tapPlay();
    await page.wait(31_000);
    expect(page.faults).toEqual([]);
    expect(page.stage()).toBe("watched");
  });
});

test("a video that plays is shown again once a second, at the moment at which the seconds left change", async () => {
  const page = openAd({ durationMs: 30_500 });
  const positions: number[] = [];
  page.tapPlay();
  await page.wait(1000);
  page.watching.start(({ positionMs }) => positions.push(positionMs));
  await page.wait(10_000);
  expect(positions.length).toBeGreaterThanOrEqual(10);
  expect(positions.length).toBeLessThanOrEqual(12);
  for (const positionMs of positions.slice(1)) expect((positionMs + 500) % 1000).toBeLessThanOrEqual(TICK_MS);
});

describe("a picture that freezes", () => {
  const playback = ({ watching }: Opened) => watching.snapshot.playback;

  test("stops the ring within 1.5 s, and is shown as playing again as soon as it moves", async () => {
    const page = openAd({ durationMs: 30_000 });
    page.video.frozenAtMs = 5000;
    page.tapPlay();
    await page.wait(5900);
    expect(playback(page)).toBe("playing");
    await page.wait(600);
    expect(playback(page)).toBe("buffering");
    page.video.frozenAtMs = Number.POSITIVE_INFINITY;
    await page.wait(500);
    expect(playback(page)).toBe("playing");
    expect(page.video.loads).toBe(0);
  });

  test("is restarted before the viewer is told, and all of it counts", async () => {
    const page = openAd({ durationMs: 10_000 });
    page.video.frozenAtMs = 300;
    page.video.isThawedByPause = true;
    const shown: string[] = [];
    page.watching.start(({ playback }) => playback === shown.at(-1) || shown.push(playback));
    page.tapPlay();
    await page.wait(11_500);
    expect(page.stage()).toBe("watched");
    expect(shown).toEqual(["idle", "buffering", "playing", "ended"]);
    expect(page.video).toMatchObject({ loads: 0, clones: [], pauses: 1 });
    expect(page.service.unreportedMs([[0, 10_000]])).toBeLessThanOrEqual(UNCOUNTED_MS);
  });

  test("is loaded again, then played by a new element from where it froze, and all of it counts", async () => {
    const page = openAd({ durationMs: 10_000 });
    page.video.frozenAtMs = 300;
    page.tapPlay();
    await page.wait(3700);
    expect(page.video).toMatchObject({ loads: 1, clones: [] });
    await page.wait(3000);
    expect(page.video.clones).toMatchObject([{ paused: false, muted: true }]);
    expect(page.video.paused).toBe(true);
    await page.wait(10_500);
    expect(page.stage()).toBe("watched");
    expect(page.faults).toEqual([]);
    page.watching.close();
    await page.wait(500);
    expect(page.service.state).toBe("rewarded");
  });

  test("also in a new element is replaced by another ad", async () => {
    const page = openAd({ durationMs: 10_000 });
    page.video.frozenAtMs = page.video.clonesFreezeAtMs = 300;
    page.tapPlay();
    await page.wait(10_000);
    expect(page.faults).toEqual(["timeout"]);
    expect(page.stage()).toBe("broken");
    expect(page.video.clones).toHaveLength(1);
  });

  test("of which play() never settles is recovered like one that froze", async () => {
    const page = openAd({ durationMs: 10_000 });
    page.video.play = () => new Promise<never>(() => {});
    page.tapPlay();
    await page.wait(6500);
    expect(page.video.clones).toMatchObject([{ paused: false }]);
    await page.wait(10_500);
    expect(page.stage()).toBe("watched");
  });
});

describe("a script that fights the player", () => {
  /** Lets a script act at each event, a moment later as browsers do. */
  async function fight(page: Opened, event: string, cheat: () => void): Promise<void> {
    page.video.addEventListener(event, () => setTimeout(cheat, 1));
    cheat();
    await page.wait(5000);
  }
  const MAX_CORRECTIONS = 5000 / 250 + 2;

  test("over the speed is corrected four times a second at most, and never after the end", async () => {
    const page = openAd({ durationMs: 10_000 });
    page.tapPlay();
    await fight(page, "ratechange", () => {
      page.video.playbackRate = 4;
    });
    expect(page.video.resets).toBeGreaterThan(10);
    expect(page.video.resets).toBeLessThanOrEqual(MAX_CORRECTIONS);
    await page.wait(6000);
    expect(page.stage()).toBe("watched");
    const { resets } = page.video;
    await page.wait(2000);
    expect(page.video.resets).toBe(resets);
  });

  test("over the position is corrected four times a second at most, and gains nothing", async () => {
    const page = openAd({ durationMs: 10_000 });
    page.tapPlay();
    await page.wait(1000);
    await fight(page, "seeking", () => {
      page.video.currentTime = 9;
    });
    expect(page.video.seeks.filter((seconds) => seconds < 9).length).toBeLessThanOrEqual(MAX_CORRECTIONS);
    expect(page.service.reported.every(([, to]) => to < 9000)).toBe(true);
    expect(page.stage()).toBe("playing");
  });

  test("over a pause is corrected four times a second at most", async () => {
    const page = openAd({ durationMs: 10_000 });
    page.tapPlay();
    await page.wait(1000);
    page.watching.pause();
    const before = page.video.pauses;
    await fight(page, "pause", () => void page.video.play());
    expect(page.video.pauses - before).toBeLessThanOrEqual(MAX_CORRECTIONS);
    expect(page.watching.snapshot.playback).toBe("held");
  });

  test("over the sound makes few reports", async () => {
    const page = openAd({ durationMs: 10_000 });
    page.tapPlay();
    await page.wait(1000);
    await fight(page, "volumechange", () => {
      page.video.muted = !page.video.muted;
    });
    const reports = new Set(page.calls.flatMap((call) => call.reports.map(({ sequence }) => sequence)));
    // The player's own clock notices it, too.
    expect(reports.size).toBeLessThanOrEqual(3 * MAX_CORRECTIONS);
  });
});

type Action =
  | { readonly do: "wait"; readonly milliseconds: number }
  | { readonly do: "network"; readonly network: Network }
  | { readonly do: "play" | "pause" | "toggle sound" | "hide" | "show" };

const waits = fc.record({ do: fc.constant("wait" as const), milliseconds: fc.integer({ min: 0, max: 6000 }) });
const taps = fc.record({ do: fc.constantFrom("play", "pause", "toggle sound", "hide", "show") });
const networks = fc.record({
  do: fc.constant("network" as const),
  network: fc.constantFrom<Network>("fine", "request-lost", "answer-lost", "hangs", "busy"),
});
const durations = fc.integer({ min: 1000, max: 60_000 });
const quiet: fc.Arbitrary<Action[]> = fc.array(fc.oneof(waits, waits, taps), { maxLength: 30 });
const rough: fc.Arbitrary<Action[]> = fc.array(fc.oneof(waits, waits, taps, networks), { maxLength: 30 });

async function act(page: Opened, actions: readonly Action[]): Promise<void> {
  page.tapPlay();
  for (const action of actions) {
    if (action.do === "wait") await page.wait(action.milliseconds);
    else if (action.do === "network") page.setNetwork(action.network);
    else if (action.do === "play") page.tapPlay();
    else if (action.do === "pause") page.watching.pause();
    else if (action.do === "toggle sound") page.watching.setMuted(!page.video.muted);
    else page[action.do]();
  }
}

describe("an interstitial", () => {
  beforeEach(() => {
    vi.stubEnv("IN_APP", "true");
    return () => void vi.unstubAllEnvs();
  });
  const skip = ({ session, watching }: Opened) => leaveInterstitial(session, watching);

  test("that the service closed while the user was away plays to its end card, and none waits for a confirmation", async () => {
    for (const isAway of [true, false]) {
      const page = openAd({ durationMs: 20_000, skipAfterMs: 5000 });
      page.tapPlay();
      await page.wait(7000);
      if (isAway) {
        page.hide();
        await page.wait(1000);
        expect(page.service.receive({ token: "token", reports: [], closed: "page-hidden" }).state).toBe("rewarded");
        page.show();
        await page.wait(8000);
        expect(page.stage()).toBe("playing");
      } else {
        await page.wait(10_000);
        page.setNetwork("hangs");
      }
      await page.wait(6000);
      expect(page.stage()).toBe("watched");
      page.kill();
    }
  });

  test("is left while its end waits for a service that does not answer", async () => {
    const page = openAd({ durationMs: 3000, skipAfterMs: 5000 });
    page.setNetwork("hangs");
    page.tapPlay();
    await page.wait(4000);
    expect(page.stage()).toBe("confirming");
    skip(page);
    expect(page.stage()).toBe("closed");
  });

  test("is not left before its time, unless it has not moved for as long, and is not charged by that", async () => {
    const page = openAd({ durationMs: 20_000, skipAfterMs: 2000 });
    page.video.frozenAtMs = 1000;
    page.video.clonesFreezeAtMs = 1000;
    page.tapPlay();
    await page.wait(1500);
    skip(page);
    expect(page.stage()).toBe("playing");
    await page.wait(1400);
    skip(page);
    expect(page.stage()).toBe("playing");
    await page.wait(1600);
    expect(page.watching.snapshot.positionMs).toBeLessThan(2000);
    skip(page);
    expect(page.stage()).toBe("left");
    await page.wait(1000);
    expect(page.service.state).toBe("playing");
  });

  test("is left when the browser lets it play only after a tap", async () => {
    const page = openAd({ durationMs: 20_000, skipAfterMs: 5000 });
    page.video.play = async () => {
      throw new DOMException("not allowed", "NotAllowedError");
    };
    page.watching.play();
    await page.wait(100);
    expect(page.watching.snapshot.playback).toBe("blocked");
    skip(page);
    expect(page.stage()).toBe("left");
    expect(page.calls).toEqual([]);
  });
});

describe("with arbitrary viewer actions and network faults", () => {
  test("a swipe at any moment loses no played range", async () => {
    await fc.assert(
      fc.asyncProperty(durations, rough, fc.boolean(), async (durationMs, actions, isHiddenFirst) => {
        const page = openAd({ durationMs });
        await act(page, actions);
        page.swipe({ isHiddenFirst });
        await page.wait(1000);
        expect(page.service.unreportedMs(page.video.played)).toBeLessThanOrEqual(UNCOUNTED_MS);
      }),
      { numRuns: 200 },
    );
  });

  test("a page that is killed without an event loses no more than 5 s of playback", async () => {
    await fc.assert(
      fc.asyncProperty(durations, quiet, async (durationMs, actions) => {
        const page = openAd({ durationMs });
        await act(page, actions);
        const played = page.video.played;
        page.kill();
        await page.wait(1000);
        expect(page.service.unreportedMs(played)).toBeLessThanOrEqual(5000 + TICK_MS + UNCOUNTED_MS);
      }),
      { numRuns: 200 },
    );
  });

  test("a viewer who finally watches to the end is paid, and a closed view makes no more calls", {
    tags: "long",
  }, async () => {
    await fc.assert(
      fc.asyncProperty(durations, rough, async (durationMs, actions) => {
        const page = openAd({ durationMs });
        await act(page, actions);
        page.setNetwork("fine");
        page.show();
        page.tapPlay();
        await page.wait(durationMs + MAX_SILENCE_MS);
        expect(page.stage()).toBe("watched");
        page.watching.close();
        await page.wait(2000);
        expect(page.service.state).toBe("rewarded");
        const before = page.calls.length;
        await page.wait(60_000);
        expect(page.calls.length).toBe(before);
      }),
      { numRuns: 200 },
    );
  });
});
