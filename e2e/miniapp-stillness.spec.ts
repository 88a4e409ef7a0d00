import { devices } from "@playwright/test";
import { closeAndGet, launchUrl, watchToTheEnd } from "./open-miniapp.ts";
import { expect, newCode, test } from "./stack.ts";

// Layout shifts are measured in device pixels.
test.use({ deviceScaleFactor: devices["Pixel 7"].deviceScaleFactor });

declare global {
  interface Window {
    /** Layout shifts without user input, as measured by the browser. */
    shifts: { value: number; state: string | undefined }[];
  }
}

test("no element moves unexpectedly from the offer to the reward", async ({ api, page, stack, userId }) => {
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
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  expect(await page.evaluate(() => window.shifts)).toEqual([]);
});
