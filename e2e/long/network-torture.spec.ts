import { join } from "node:path";
import type { Page, Route } from "@playwright/test";
import { closeAndGet, launchUrl, openWithNewCode } from "../open-miniapp.ts";
import { expect, expectPaidOnce, newCode, test } from "../stack.ts";

/** Longer than the outages, so that each of them happens in the middle of the video. */
test.use({ adVideo: join(import.meta.dirname, "../../apps/ad-service/sample/house-ad.mp4") });

const isReport = (url: URL) => url.pathname.endsWith("/reports");

/** Watches until the service has confirmed the whole view, and taps wherever the page asks for it. */
async function watchWithRetries(page: Page): Promise<void> {
  const end = page.getByRole("heading", { name: "You can close now" });
  const tap = page.getByRole("button", { name: /^(Tap to|Try again)/ });
  await expect(async () => {
    if (await tap.first().isVisible()) await tap.first().click({ timeout: 1000 });
    await expect(end).toBeVisible({ timeout: 1000 });
  }).toPass({ timeout: 150_000 });
}

async function playUntil(page: Page, seconds: number): Promise<void> {
  await page.waitForFunction((from) => (document.querySelector("video")?.currentTime ?? 0) > from, seconds, {
    timeout: 60_000,
  });
}

async function getTheReward(page: Page): Promise<void> {
  await watchWithRetries(page);
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible({ timeout: 90_000 });
}

test("on 3G the honest viewer is paid", async ({ api, context, page, stack, userId }) => {
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 400,
    downloadThroughput: 400_000 / 8,
    uploadThroughput: 400_000 / 8,
  });
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets), { timeout: 60_000 });
  await page.getByRole("button", { name: "Watch" }).click({ timeout: 60_000 });
  await getTheReward(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("30 % of the reports lost, in either direction: the honest viewer is paid", async ({
  api,
  page,
  stack,
  userId,
}) => {
  let count = 0;
  const lost = { request: 0, answer: 0 };
  await page.route(isReport, async (route: Route) => {
    // Three in ten, the same in each run: half of them never arrive, for the others the response is lost.
    const step = count++ % 20;
    if ([1, 6, 13].includes(step)) {
      lost.request++;
      return route.abort("connectionreset");
    }
    if ([3, 9, 16].includes(step)) {
      await route.fetch();
      lost.answer++;
      return route.abort("connectionreset");
    }
    return route.continue();
  });
  await openWithNewCode({ api, page, stack, userId });
  await page.getByRole("button", { name: "Watch" }).click();
  await getTheReward(page);
  expect(Math.min(lost.request, lost.answer)).toBeGreaterThan(0);
  await expectPaidOnce(api, userId, "rewarded");
});

test("20 s without a network during playback: the honest viewer is paid", async ({
  api,
  context,
  page,
  stack,
  userId,
}) => {
  await openWithNewCode({ api, page, stack, userId });
  await page.getByRole("button", { name: "Watch" }).click();
  await playUntil(page, 3);
  let unheard = 0;
  page.on("requestfailed", (request) => {
    if (isReport(new URL(request.url()))) unheard++;
  });
  await context.setOffline(true);
  await page.waitForTimeout(20_000);
  // The buffered video keeps playing, but the page does not show it as watched before the service has confirmed it.
  await expect(page.getByRole("heading", { name: "You can close now" })).toBeHidden();
  await context.setOffline(false);
  expect(unheard).toBeGreaterThan(0);
  await getTheReward(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("both servers crash and restart during playback: the honest viewer is paid", async ({
  api,
  page,
  stack,
  userId,
}) => {
  await openWithNewCode({ api, page, stack, userId });
  await page.getByRole("button", { name: "Watch" }).click();
  await playUntil(page, 3);
  for (const name of ["ad-service", "api"] as const) {
    const server = stack.servers.get(name);
    if (!server) throw new Error(`${name} does not run`);
    const exited = new Promise((resolve) => server.process.once("exit", resolve));
    server.process.kill("SIGKILL");
    await exited;
    await stack.start(name);
  }
  await getTheReward(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("the media host is unreachable for a while: the honest viewer is paid", async ({ api, page, stack, userId }) => {
  let isCut = false;
  let requests = 0;
  let refused = 0;
  await page.route("**/media/*.mp4", async (route) => {
    if (isCut) {
      refused++;
      return route.abort("connectionreset");
    }
    // Each request gets the first half of the file, then the connection breaks.
    const range = (await route.request().headerValue("range")) ?? "bytes=0-";
    const from = Number(/bytes=(\d+)-/.exec(range)?.[1] ?? 0);
    requests++;
    if (from > 0 || requests > 1) return route.continue();
    const answer = await route.fetch({ headers: { ...route.request().headers(), range: "bytes=0-199999" } });
    isCut = true;
    return route.fulfill({ response: answer });
  });
  await openWithNewCode({ api, page, stack, userId });
  await page.getByRole("button", { name: "Watch" }).click();
  await playUntil(page, 2);
  await page.waitForTimeout(10_000);
  await expect(page.getByRole("heading", { name: "You can close now" })).toBeHidden();
  isCut = false;
  expect(refused).toBeGreaterThan(0);
  await getTheReward(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test('the publisher\'s API is down for half a minute: "delayed", then credited', async ({
  api,
  page,
  stack,
  userId,
}) => {
  const { miniappUrl } = await newCode(api, userId);
  let isAway = true;
  await page.route(
    (url) => url.origin === stack.urls.api,
    (route) => (isAway ? route.abort("connectionrefused") : route.continue()),
  );
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await page.getByRole("button", { name: "Watch" }).click();
  await watchWithRetries(page);
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "This is taking longer than usual" })).toBeVisible({
    timeout: 40_000,
  });
  await page.waitForTimeout(10_000);
  isAway = false;
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible({ timeout: 60_000 });
  await expectPaidOnce(api, userId, "rewarded");
});
