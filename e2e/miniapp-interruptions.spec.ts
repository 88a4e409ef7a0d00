import { closeAndGet, openWithNewCode } from "./open-miniapp.ts";
import { expect, expectPaidOnce, test } from "./stack.ts";

test("playback that ran before a busy page got the event is not missing at the end", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.addInitScript(() => {
    const onPlaying = () => {
      // The video plays while the page's main thread is busy; then the viewer leaves before the app gets the playing event.
      const startedAt = performance.now();
      while (performance.now() - startedAt < 700);
      Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" });
      document.dispatchEvent(new Event("visibilitychange"));
    };
    addEventListener("playing", onPlaying, { capture: true, once: true });
  });
  await openWithNewCode({ api, page, stack, userId });
  await page.getByRole("button", { name: "Watch" }).click();
  await page.getByRole("button", { name: "Tap to continue" }).click();
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

declare global {
  interface Window {
    mediaKeys: Map<MediaSessionAction, MediaSessionActionHandler | null>;
  }
}

test("media keys and headsets neither pause nor seek an ad, and are released after it", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.addInitScript(() => {
    const keys = new Map<MediaSessionAction, MediaSessionActionHandler | null>();
    window.mediaKeys = keys;
    const set = navigator.mediaSession.setActionHandler.bind(navigator.mediaSession);
    navigator.mediaSession.setActionHandler = (action: MediaSessionAction, handler) => {
      keys.set(action, handler);
      set(action, handler);
    };
  });
  await openWithNewCode({ api, page, stack, userId });
  await page.getByRole("button", { name: "Watch" }).click();
  const pressed = await page.evaluate(async () => {
    const video = document.querySelector("video");
    // In the page: on a busy machine the video of two seconds could end before the next call of the test arrives.
    while ((video?.currentTime ?? 0) <= 0.2) await new Promise((resolve) => setTimeout(resolve, 10));
    const before = video?.currentTime ?? 0;
    const actions = [...window.mediaKeys.keys()].toSorted();
    for (const [action, handler] of window.mediaKeys) handler?.({ action, seekTime: 1.9, seekOffset: 10 });
    return { actions, moved: (video?.currentTime ?? 0) - before, isPaused: video?.paused };
  });
  expect(pressed.actions).toEqual(
    expect.arrayContaining(["pause", "play", "seekbackward", "seekforward", "seekto", "stop"]),
  );
  expect(pressed.isPaused).toBe(false);
  expect(pressed.moved).toBeLessThan(0.2);
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  expect(await page.evaluate(() => [...window.mediaKeys.values()].filter((handler) => handler !== null))).toEqual([]);
  await expectPaidOnce(api, userId, "rewarded");
});
