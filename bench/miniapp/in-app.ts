import { createServer } from "node:http";
import { type Browser, type CDPSession, devices, type Page } from "@playwright/test";
import { initDataOf } from "../../e2e/scripted-viewer.ts";
import { freePort } from "../../scripts/processes.ts";
import type { BenchStack } from "../bench-stack.ts";
import { openSlowPage } from "./measure-page.ts";
import { measurePlaying, type PlayingCost } from "./measure-playing.ts";

/**
 * Frames of other sites share the page's process, as in Android's WebView: the page's main thread and its network are those of
 * the frame, too.
 */
export const asInWebView = ["--disable-site-isolation-trials"];

/** A publisher's mini-app on another origin than the ad service: a page that only shows ads. */
export async function startGamePage({ urls, secrets }: BenchStack): Promise<{
  origin: string;
  /** With launch data of this user; `shows`: it shows an ad as soon as it is there. */
  address(userId: string, options?: { shows: boolean }): string;
  stop(): void;
}> {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Game</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<body><script src="${urls.adService}/sdk/v1.js"></script>
<script>window.begin = () => { window.ads = Intermission.init({ botId: "${secrets.botId}" }); };
if (location.search === "?show") { window.shownAt = performance.now(); begin(); ads.show(); }</script>`;
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(html);
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "localhost", resolve));
  const origin = `http://localhost:${port}`;
  return {
    origin,
    address: (userId, { shows } = { shows: false }) =>
      `${origin}/${shows ? "?show" : ""}#${new URLSearchParams({ tgWebAppData: initDataOf(userId, secrets), tgWebAppVersion: "9.1" })}`,
    stop: () => void server.close(),
  };
}

const frameOf = async (page: Page) => {
  const element = await page.waitForSelector("iframe", { state: "attached" });
  const frame = await element.contentFrame();
  if (!frame) throw new Error("the page's iframe has no frame");
  return frame;
};

/** Milliseconds to the ad's first picture in its frame, from the request of the game's page and from `show()`. */
export async function firstFrameInGame(
  browser: Browser,
  address: string,
): Promise<{ fromRequest: number; fromShow: number }> {
  const { page, close } = await openSlowPage(browser);
  try {
    await page.goto(address, { waitUntil: "commit" });
    const frame = await frameOf(page);
    await frame.waitForFunction(() => window.vitals?.firstFrame > 0, undefined, { timeout: 60_000 });
    const at = await frame.evaluate(() => performance.timeOrigin + window.vitals.firstFrame);
    const { requestedAt, shownAt } = await page.evaluate(() => ({
      requestedAt: performance.timeOrigin,
      shownAt: (window as unknown as { shownAt: number }).shownAt,
    }));
    return { fromRequest: at - requestedAt, fromShow: at - requestedAt - shownAt };
  } finally {
    await close();
  }
}

/** Bytes that reach the page over the network, with their headers. */
interface LoadedBytes {
  beforeInit: number;
  beforeShow: number;
  /** Paths that were loaded after the script and before `init`. */
  unexpected: readonly string[];
}

/** Bytes that the script loads from the ad service before `init`, and before `show` with a call of `availability()`. */
export async function loadedBeforeShow(browser: Browser, address: string, adService: string): Promise<LoadedBytes> {
  const context = await browser.newContext(devices["Pixel 7"]);
  try {
    const page = await context.newPage();
    const network = await watchNetwork(await context.newCDPSession(page), adService);
    await page.goto(address, { waitUntil: "networkidle" });
    const beforeInit = network.bytes;
    const unexpected = network.paths.filter((path) => path !== "/sdk/v1.js");
    await page.evaluate(async () => {
      const its = window as unknown as { begin(): void; ads: { availability(): Promise<unknown> } };
      its.begin();
      await its.ads.availability();
    });
    await page.waitForLoadState("networkidle");
    return { beforeInit, beforeShow: network.bytes, unexpected };
  } finally {
    await context.close();
  }
}

async function watchNetwork(cdp: CDPSession, origin: string): Promise<{ bytes: number; paths: string[] }> {
  const seen: { bytes: number; paths: string[] } = { bytes: 0, paths: [] };
  const ids = new Set<string>();
  await cdp.send("Network.enable");
  cdp.on("Network.requestWillBeSent", ({ requestId, request }) => {
    if (!request.url.startsWith(origin)) return;
    ids.add(requestId);
    seen.paths.push(new URL(request.url).pathname);
  });
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (ids.has(requestId)) seen.bytes += encodedDataLength;
  });
  return seen;
}

/** The joint cost of the game's page and its frame while the ad plays. */
export function measurePlayingInGame(browser: Browser, address: string): Promise<PlayingCost> {
  return measurePlaying(browser, address, { playerIn: frameOf });
}
