import { type Browser, devices, type Page } from "@playwright/test";
import { observeVitals, type PageVitals } from "./page-vitals.ts";

/** A cheap phone on a slow network. */
export const conditions = { kilobitsPerSecond: 1600, latencyMs: 150, cpuSlowdown: 4 };

/** Opens a page without a cache, acts on it as a viewer does, and returns its vitals. */
export async function measurePage(
  browser: Browser,
  url: string,
  view: (page: Page) => Promise<void>,
): Promise<PageVitals> {
  const { page, close } = await openSlowPage(browser);
  try {
    await page.goto(url, { waitUntil: "commit" });
    await view(page);
    return await page.evaluate(() => window.vitals);
  } finally {
    await close();
  }
}

/** A page without a cache, on the phone and the network of `conditions`, which notes its vitals. */
export async function openSlowPage(browser: Browser): Promise<{ page: Page; close: () => Promise<void> }> {
  const context = await browser.newContext({ ...devices["Pixel 7"], locale: "en-US" });
  const close = () => context.close();
  try {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    const bytesPerSecond = (conditions.kilobitsPerSecond * 1000) / 8;
    await cdp.send("Network.enable");
    await cdp.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: conditions.latencyMs,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond / 2,
    });
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: conditions.cpuSlowdown });
    await page.addInitScript(observeVitals);
    return { page, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Waits until the first frame is on the screen, and one second more for entries that the browser reports late. */
export async function seeFirstFrame(page: Page): Promise<void> {
  await page.waitForFunction(() => window.vitals.firstFrame > 0, undefined, { timeout: 60_000 });
  await page.waitForTimeout(1000);
}

/** Starts, watches to the end, closes, and waits for the reward. */
export async function watchToTheReward(page: Page): Promise<void> {
  await seeFirstFrame(page);
  await page.getByRole("button", { name: "Watch" }).tap();
  await page.getByRole("button", { name: /^Reward earned/ }).tap({ timeout: 90_000 });
  await page.waitForFunction(() => window.vitals.closeToCredited > 0, undefined, { timeout: 60_000 });
  await page.waitForTimeout(500);
}
