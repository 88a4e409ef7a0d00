import type { BrowserContext } from "@playwright/test";
import { test as base } from "./stack.ts";

/**
 * Devices of their own in a browser that is stricter than any client: no video plays without a gesture, muted or not. Started
 * for the test, because other launch options of the worker's browser would need a worker, and a stack, of their own.
 */
export const test = base.extend<{ newDevice: () => Promise<BrowserContext> }>({
  newDevice: async ({ launchOptions, playwright }, use) => {
    const args = [...(launchOptions.args ?? []), "--autoplay-policy=user-gesture-required"];
    const browser = await playwright.chromium.launch({ ...launchOptions, args });
    try {
      await use(() => browser.newContext());
    } finally {
      await browser.close();
    }
  },
});
