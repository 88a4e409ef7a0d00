import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { closeAndGet } from "./open-miniapp.ts";
import { initDataOf } from "./scripted-viewer.ts";
import { test as base, expect } from "./stack.ts";

interface Game {
  /** Another origin than the ad service's: `localhost`, and a port of its own. */
  readonly origin: string;
  /** The address of its page, with launch data of this user. */
  address(userId: string, options?: GameOptions): string;
  open(page: Page, userId: string, options?: GameOptions): Promise<void>;
  /** What is asked of the client, by the page: the frame has none. */
  posted(page: Page): Promise<readonly string[]>;
}

interface GameOptions {
  readonly initData?: string;
  /** Of its content security policy. */
  readonly policy?: GamePolicy;
}

/** `strict` allows what the documentation names and nothing else; the next two leave out one line of it. */
type GamePolicy = "strict" | "without-frame-src" | "without-connect-src" | "none";

function policiesOf(adService: string): Readonly<Record<GamePolicy, string | undefined>> {
  const start = `default-src 'none'; script-src ${adService} 'nonce-game'; require-trusted-types-for 'script'; trusted-types 'none'`;
  const [frames, calls] = [`frame-src ${adService}`, `connect-src ${adService}`];
  return {
    strict: [start, frames, calls].join("; "),
    "without-frame-src": [start, calls].join("; "),
    "without-connect-src": [start, frames].join("; "),
    none: undefined,
  };
}

/** The publisher's own mini-app, with a stand-in for Telegram's client around its page alone. */
export const test = base.extend<{ game: Game }>({
  game: async ({ stack }, use) => {
    const server = await servePage(stack);
    const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
    await stack.ads(["bots", "update", stack.secrets.botId, "--app-origin", origin]);
    const address: Game["address"] = (
      userId,
      { initData = initDataOf(userId, stack.secrets), policy = "strict" } = {},
    ) => `${origin}/${policy}#${new URLSearchParams({ tgWebAppData: initData, tgWebAppVersion: "9.1" })}`;
    await use({
      origin,
      address,
      async open(page, userId, options) {
        await page.addInitScript(() => {
          if (window.parent !== window) return;
          const posted: string[] = [];
          const postEvent = (method: string) => posted.push(method);
          Object.assign(window, { TelegramWebviewProxy: { postEvent }, posted });
        });
        await page.goto(address(userId, options));
      },
      posted: (page) => page.evaluate(() => (window as unknown as { posted: string[] }).posted),
    });
    server.close();
    server.closeAllConnections();
    await stack.ads(["bots", "update", stack.secrets.botId, "--app-origin", "none"]);
  },
});

async function servePage({ urls, secrets }: DemoStack): Promise<Server> {
  const page = `<!doctype html><html lang="en"><title>Game</title><meta name="viewport" content="width=device-width">
<button id="play">Play</button>
<script src="${urls.adService}/sdk/v1.js"></script>
<script nonce="game">window.ads = Intermission.init({ botId: "${secrets.botId}" });</script>`;
  const policies = policiesOf(urls.adService);
  const server = createServer((request, response) => {
    const name = request.url?.slice(1) ?? "";
    if (!Object.hasOwn(policies, name)) return response.writeHead(204).end();
    const policy = policies[name as GamePolicy];
    if (policy) response.setHeader("content-security-policy", policy);
    return response.setHeader("content-type", "text/html").end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return server;
}

interface ShowOptions {
  code?: string;
  format?: "interstitial";
}

interface Ads {
  availability(): Promise<unknown>;
  preload(): Promise<void>;
  show(options?: ShowOptions & { signal?: AbortSignal }): Promise<unknown>;
}
export type PageWithAds = { ads: Ads; result: Promise<unknown> };
type Evaluable = Pick<Page, "evaluate">;

/** Begins to show an ad, and does not wait for its end. */
export const show = (page: Evaluable, options: ShowOptions = {}) =>
  page.evaluate((passed) => {
    const its = window as unknown as PageWithAds;
    its.result = its.ads.show(passed);
    its.result.catch(() => {});
  }, options);
export const result = (page: Evaluable) =>
  page.evaluate(() => (window as unknown as PageWithAds).result.catch((error: Error) => error.message));

/** The app in the frame, as the flows of the mini-app use it. */
export const adIn = (page: Pick<Page, "frameLocator">) => page.frameLocator("iframe") as unknown as Page;

/**
 * Taps the offer's button until the ad begins. Chromium discards the taps of half a second in a frame that has just appeared
 * and watches its own visibility.
 */
export async function startAd(ad: Page): Promise<void> {
  const start = ad.getByRole("button", { name: /^(Watch|Continue watching)/ });
  await start.waitFor();
  await expect(async () => {
    if (await start.isVisible()) await start.click({ timeout: 1000 });
    await expect(start).toBeHidden({ timeout: 700 });
  }).toPass();
}

/** Watches the ad in this frame to its end, closes it, and waits until the reward is credited. */
export async function watchIn(ad: Page): Promise<void> {
  await startAd(ad);
  await ad.getByRole("heading", { name: "You can close now" }).waitFor({ timeout: 20_000 });
  await closeAndGet(ad);
  await ad.getByRole("heading", { name: "Reward credited" }).waitFor();
}
