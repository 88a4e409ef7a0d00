import { devices, type Page } from "@playwright/test";
import { closeAndGet, openWithNewCode, watchToTheEnd } from "./open-miniapp.ts";
import { sendsVideo, test } from "./sell-tag.ts";
import { expect } from "./stack.ts";

// Layout shifts are measured in device pixels.
test.use({ deviceScaleFactor: devices["Pixel 7"].deviceScaleFactor });

declare global {
  interface Window {
    /** Layout shifts without user input, as measured by the browser. */
    shifts: { value: number; state: string | undefined }[];
  }
}

/** Call it before the page is opened. */
async function measureShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const shift of list.getEntries()) {
        if (!("value" in shift) || !("hadRecentInput" in shift)) continue;
        // On the status screen, also counts shifts soon after a tap, which the browser would ignore.
        const { state } = document.documentElement.dataset;
        if (shift.hadRecentInput && !state?.startsWith("status-")) continue;
        window.shifts.push({ value: Number(shift.value), state });
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

test("no element moves unexpectedly from the offer to the reward", async ({ api, page, stack, userId }) => {
  await measureShifts(page);
  await openWithNewCode({ api, page, stack, userId });
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  expect(await page.evaluate(() => window.shifts)).toEqual([]);
});

test("the steps stay where they are when a reward is credited: plain, named, or before the window closes", {
  tag: "@long",
}, async ({ gallery, page }) => {
  await gallery.open(page);
  const moved: string[] = [];
  for (const [width, height] of [
    [360, 740],
    [320, 568],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const kind of ["", "-named", "-closing"]) {
      for (const language of ["ru", "fa", "uz", "de", "vi"]) {
        const tops: number[] = [];
        const before = kind === "" ? ["status-checking"] : [];
        for (const state of [...before, `status-on-its-way${kind}`, `status-credited${kind}`]) {
          await page.evaluate((shown) => window.showState(shown), { state, theme: "light", language });
          tops.push(await page.locator(".steps").evaluate((steps) => Math.round(steps.getBoundingClientRect().top)));
        }
        if (new Set(tops).size > 1) moved.push(`${kind || "plain"} in ${language} at ${width}: ${tops.join(" to ")}`);
      }
    }
  }
  expect(moved).toEqual([]);
});

test("a VAST video whose ad declares its size moves nothing when its metadata arrive", { tag: "@long" }, async ({
  api,
  page,
  sell,
  stack,
  userId,
}) => {
  await measureShifts(page);
  const files = '<MediaFile delivery="progressive" type="video/mp4" width="360" height="640">{self}/ad.mp4</MediaFile>';
  await sell(await sendsVideo("clip-2s.mp4"), { files });
  await openWithNewCode({ api, page, stack, userId });
  await watchToTheEnd(page);
  expect(await page.evaluate(() => window.shifts)).toEqual([]);
});
