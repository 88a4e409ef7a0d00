import { type Browser, type CDPSession, devices, type Frame, type Page } from "@playwright/test";
import { conditions } from "./measure-page.ts";

/** What the app costs while an ad plays, on a phone whose processor is as slow as in `conditions`. */
export interface PlayingCost {
  /** The share of time in which the page's main thread is busy. */
  readonly mainThread: number;
  readonly paintsPerSecond: number;
}

const MEASURED_MS = 5000;

interface Player {
  /** The user agent of Telegram on a phone. */
  readonly userAgent?: string;
  /** Where the page has its player; default: itself. */
  readonly playerIn?: (page: Page) => Promise<Page | Frame>;
}

/** Starts the ad at this address and measures while it plays. */
export async function measurePlaying(
  browser: Browser,
  url: string,
  { userAgent, playerIn = async (page) => page }: Player = {},
): Promise<PlayingCost> {
  const phone = devices["Pixel 7"];
  const context = await browser.newContext({ ...phone, ...(userAgent && { userAgent }), locale: "en-US" });
  try {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    await page.goto(url);
    const player = await playerIn(page);
    const start = player.getByRole("button", { name: /^Watch/ });
    await start.waitFor();
    // Chromium discards the taps of half a second in a frame that has just appeared.
    while (await start.isVisible()) await start.tap({ timeout: 1000 }).catch(() => {});
    await player.waitForFunction(() => (document.querySelector("video")?.currentTime ?? 0) > 1);
    await cdp.send("Emulation.setCPUThrottlingRate", { rate: conditions.cpuSlowdown });
    return await measure(browser, page, cdp);
  } finally {
    await context.close();
  }
}

async function measure(browser: Browser, page: Page, cdp: CDPSession): Promise<PlayingCost> {
  // Processor time: on a busy machine a thread also waits for its turn.
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const busyBefore = await busySeconds(cdp);
  await page.waitForTimeout(MEASURED_MS);
  const busy = (await busySeconds(cdp)) - busyBefore;
  // Apart from the first figure, since tracing takes time of its own.
  await browser.startTracing(page, { categories: ["devtools.timeline"] });
  await page.waitForTimeout(MEASURED_MS / 2);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const paints = traceEvents.filter(({ name }: { name: string }) => name === "Paint").length;
  return { mainThread: (busy * 1000) / MEASURED_MS, paintsPerSecond: (paints * 1000) / (MEASURED_MS / 2) };
}

async function busySeconds(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
}
