import { devices } from "@playwright/test";
import { closeAndGet, launchUrl, watchToTheEnd } from "./open-miniapp.ts";
import { expect, newCode, test } from "./stack.ts";

// A shift is measured in the pixels of the screen.
test.use({ deviceScaleFactor: devices["Pixel 7"].deviceScaleFactor });

declare global {
  interface Window {
    /** What moved without the viewer's doing, by the browser's own measure. */
    shifts: { value: number; state: string | undefined }[];
  }
}

test("nothing on the screen moves by itself, from the offer to the reward", async ({ api, page, stack, userId }) => {
  await page.addInitScript(() => {
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const shift of list.getEntries()) {
        if (!("value" in shift) || !("hadRecentInput" in shift)) continue;
        // Also what comes soon after a tap, which the browser would forgive, once the status is on the screen.
        const { state } = document.documentElement.dataset;
        if (shift.hadRecentInput && !state?.startsWith("status-")) continue;
        window.shifts.push({ value: Number(shift.value), state });
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  expect(await page.evaluate(() => window.shifts)).toEqual([]);
});
