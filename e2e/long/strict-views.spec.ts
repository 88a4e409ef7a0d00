import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { test as base, expect, type Page } from "@playwright/test";
import { startAdsCommands } from "../../scripts/ads-commands.ts";
import { type DemoStack, startDemoStack } from "../../scripts/demo-stack.ts";
import { freePort, root } from "../../scripts/processes.ts";
import { companionApi } from "../kill/companion-api.ts";
import { closeAndGet, launchUrl, watchToTheEnd } from "../open-miniapp.ts";
import {
  expectNeverPaid,
  expectNothingPaid,
  expectPaidOnce,
  expectStillPaidSo,
  newCode,
  newDataDirectory,
} from "../stack.ts";

/** A video of ten seconds, long enough to distinguish a browser from a script, and a bot that refuses suspicious views. */
const test = base.extend<object, { stack: DemoStack }>({
  stack: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the first parameter's destructuring.
    async ({}, use) => {
      const dataDirectory = await newDataDirectory();
      const commands = startAdsCommands();
      const stack = await startDemoStack({
        runAds: commands.run,
        dataDirectory,
        ports: { adService: await freePort(), api: await freePort(), demoBot: await freePort() },
        video: join(root, "apps/ad-service/sample/house-ad.mp4"),
        hasChat: false,
        cooldownSeconds: 0,
        dailyCap: 100,
        env: { "ad-service": { PUBLISHER_SHARE_PERCENT: "60" } },
      });
      await stack.ads(["bots", "update", stack.secrets.botId, "--suspicious-views", "refuse"]);
      await stack.ads(["money", "terms", "Intermission", "credit"]);
      const { campaigns } = await operator(stack, "/campaigns");
      for (const { campaignId, formats } of campaigns) {
        if (!formats.includes("rewarded")) continue;
        await operator(stack, `/campaigns/${campaignId}`, { viewPriceMicros: 2501 });
      }
      await use(stack);
      await expectStillPaidSo().finally(() => stack.stop());
      await commands.stop();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
    { scope: "worker", timeout: 60_000 },
  ],
});

const run = promisify(execFile);
const orientations = { landscape: { width: 800, height: 400 }, portrait: { width: 400, height: 800 } };

const interruptions: Record<string, (page: Page) => Promise<void>> = {
  "nothing at all": async () => {},
  "a call: the page is out of sight for two seconds": async (page) => {
    await setHidden(page, true);
    await page.waitForTimeout(2000);
    await setHidden(page, false);
  },
  "rotation, twice": async (page) => {
    await page.setViewportSize(orientations.landscape);
    await page.waitForTimeout(500);
    await page.setViewportSize(orientations.portrait);
  },
};

let userId = 880_000;
for (const [name, interrupt] of Object.entries(interruptions)) {
  test(`a real browser's view raises no suspicion, and its statistics add up: ${name}`, async ({ page, stack }) => {
    const viewer = String(++userId);
    const api = companionApi(stack.urls.api, stack.secrets.backendApiKey);
    const before = await countedByNow(stack);
    const { miniappUrl, code } = await newCode(api, viewer);
    await page.goto(launchUrl(miniappUrl, viewer, stack.secrets));
    await page.getByRole("button", { name: "Watch" }).click();
    await page.waitForFunction(() => (document.querySelector("video")?.currentTime ?? 0) > 2);
    await interrupt(page);
    // After a call the browser may require a tap before the video plays on.
    const tap = page.getByRole("button", { name: "Tap to continue" });
    await expect(async () => {
      if (await tap.isVisible()) await tap.click({ timeout: 1000 });
      await expect(page.getByRole("heading", { name: "You can close now" })).toBeVisible({ timeout: 1000 });
    }).toPass({ timeout: 60_000 });
    await closeAndGet(page);
    await expectPaidOnce(api, viewer, "rewarded");

    const described = await publisher(stack, `/codes/${code}`);
    expect(described.sessions).toMatchObject([{ state: "rewarded" }]);
    expect(described.sessions[0].suspicions).toBeUndefined();

    const counted = ["fills", "starts", "firstQuartiles", "midpoints", "thirdQuartiles", "completions", "rewards"];
    await expect(async () => {
      const { total } = await operator(stack, "/stats");
      for (const measure of counted) expect(total[measure] - before.total[measure], measure).toBe(1);
      expect(total.spendMicros - before.total.spendMicros).toBe(2501);
      expect(total.revenueMicros - before.total.revenueMicros).toBe(1500);
    }).toPass({ timeout: 30_000 });
    const { total } = await publisher(stack, "/stats?by=campaign");
    expect(total).toMatchObject({ fill_rate: 1, completion_rate: 1 });
    expect(total.revenue_micros % 1500).toBe(0);
  });
}

/** Each lasts 12 to 15 s: what advertisers make of a few pictures and a jingle. */
const fewFrames: Record<string, string[]> = {
  "slides of one frame in 5 s": ["-f", "lavfi", "-i", "testsrc=s=180x320:r=1/5:d=12"],
  "a still with sound": ["-f", "lavfi", "-i", "color=red:s=180x320:r=1/12:d=12"],
  "sound that lasts longer than the picture": ["-f", "lavfi", "-i", "testsrc2=s=180x320:r=25:d=3"],
};
for (const [name, picture] of Object.entries(fewFrames)) {
  test(`a real browser's view raises no suspicion: ${name}`, async ({ page, stack }, testInfo) => {
    const viewer = String(++userId);
    const api = companionApi(stack.urls.api, stack.secrets.backendApiKey);
    const file = testInfo.outputPath("ad.mp4");
    const sound = ["-f", "lavfi", "-i", "sine=frequency=440:duration=12"];
    const codecs = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", "-movflags", "+faststart"];
    await run("ffmpeg", ["-v", "error", "-y", ...picture, ...sound, ...codecs, file]);
    const advertised = [
      "--name",
      name,
      "--advertiser",
      "Acme",
      "--format",
      "rewarded",
      "--landing-url",
      "https://acme.example/",
    ];
    const only = [
      "--priority",
      "sponsorship",
      "--total-view-cap",
      "1",
      "--view-price",
      "0.002501",
      "--billing",
      "credit",
    ];
    await stack.ads(["campaigns", "add", ...advertised, ...only, "--video", file]);
    const { miniappUrl, code } = await newCode(api, viewer);
    await page.goto(launchUrl(miniappUrl, viewer, stack.secrets));
    await page.getByRole("button", { name: "Watch" }).click();
    // After a call the browser may require a tap before the video plays on.
    const tap = page.getByRole("button", { name: "Tap to continue" });
    await expect(async () => {
      if (await tap.isVisible()) await tap.click({ timeout: 1000 });
      await expect(page.getByRole("heading", { name: "You can close now" })).toBeVisible({ timeout: 1000 });
    }).toPass({ timeout: 60_000 });
    await closeAndGet(page);
    await expectPaidOnce(api, viewer, "rewarded");
    const described = await publisher(stack, `/codes/${code}`);
    expect(described.sessions).toMatchObject([{ state: "rewarded" }]);
    expect(described.sessions[0].suspicions).toBeUndefined();
  });
}

test("a page that renders nothing is refused, and the publisher gets the reason", async ({ page, stack }) => {
  const viewer = String(++userId);
  const api = companionApi(stack.urls.api, stack.secrets.backendApiKey);
  await renderNothing(page);
  const { miniappUrl, code } = await newCode(api, viewer);
  await page.goto(launchUrl(miniappUrl, viewer, stack.secrets));
  await watchToTheEnd(page);
  await closeWithoutPromise(page);
  await expect(page.getByRole("heading", { name: "This view wasn’t counted" })).toBeVisible();
  await expect(page.getByText(code)).toBeVisible();
  await expectNeverPaid(api, viewer);
  const described = await publisher(stack, `/codes/${code}`);
  expect(described.sessions).toMatchObject([{ state: "watched", review: "refused", suspicions: ["no-frames"] }]);
  // The player closes for the viewer, and the next code is a different one.
  await expect(page.locator("video")).toHaveCount(0);
  expect((await newCode(api, viewer)).code).not.toBe(code);
});

test("a held view is shown as held, also when it is opened again, until the operator releases it", async ({
  page,
  stack,
}) => {
  const viewer = String(++userId);
  const api = companionApi(stack.urls.api, stack.secrets.backendApiKey);
  await renderNothing(page);
  await stack.ads(["bots", "update", stack.secrets.botId, "--suspicious-views", "hold"]);
  try {
    const { miniappUrl, code } = await newCode(api, viewer);
    await page.goto(launchUrl(miniappUrl, viewer, stack.secrets));
    await watchToTheEnd(page);
    await closeWithoutPromise(page);
    const heading = page.getByRole("heading", { name: "Your view needs a closer look" });
    await expect(heading).toBeVisible();
    await page.goto("about:blank");
    await page.goto(launchUrl(miniappUrl, viewer, stack.secrets));
    await expect(heading).toBeVisible();
    await expectNothingPaid(api, viewer);
    const { session_id: viewId } = (await publisher(stack, `/codes/${code}`)).sessions[0];
    await stack.ads(["views", "release", viewId]);
    await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible({ timeout: 20_000 });
    await expectPaidOnce(api, viewer, "rewarded");
  } finally {
    await stack.ads(["bots", "update", stack.secrets.botId, "--suspicious-views", "refuse"]);
  }
});

/** The statistics, once they count everything that was committed before. */
async function countedByNow(stack: Parameters<typeof operator>[0]) {
  const now = Date.now();
  let stats = await operator(stack, "/stats");
  await expect(async () => {
    stats = await operator(stack, "/stats");
    expect(Date.parse(stats.countedUntil ?? "")).toBeGreaterThan(now);
  }).toPass({ timeout: 30_000 });
  return stats;
}

test("the command line shows the same numbers, with trend lines", async ({ stack }) => {
  const shown = await stack.ads(["stats", "--by", "day"]);
  expect(shown).toMatch(/^DAY +REQUESTS +FILLED/m);
  expect(shown).toContain("money in USD");
  expect(shown).toMatch(/^rewards /m);
  const csv = await stack.ads(["stats", "--by", "campaign", "--csv", "--heading", "no"]);
  const [head = "", ...lines] = csv.trim().split("\n");
  expect(head).toMatch(/^key,name,/);
  expect(lines[0]).toContain("cmp_");
});

/** The end card of a view that is not paid, or not yet: it says that the ad may be closed, and nothing of a reward. */
async function closeWithoutPromise(page: Page): Promise<void> {
  const pill = page.getByRole("button", { name: /^You can close now/ });
  await expect(pill).toBeVisible({ timeout: 30_000 });
  await expect(page.getByText(/reward earned/i)).toHaveCount(0);
  await pill.click();
}

/** Simulates a script that claims to play in a page that renders nothing. */
function renderNothing(page: Page): Promise<unknown> {
  return page.addInitScript(() => {
    const nothing = { totalVideoFrames: 0, droppedVideoFrames: 0, corruptedVideoFrames: 0, creationTime: 0 };
    HTMLVideoElement.prototype.getVideoPlaybackQuality = () => nothing as VideoPlaybackQuality;
  });
}

// biome-ignore lint/suspicious/noExplicitAny: each test asserts the fields of the response itself.
async function operator(stack: DemoStack, path: string, changes?: object): Promise<any> {
  const response = await fetch(`${stack.urls.adService}/operator/v1${path}`, {
    method: changes ? "PATCH" : "GET",
    headers: { authorization: `Bearer ${stack.secrets.operatorToken}`, "content-type": "application/json" },
    ...(changes && { body: JSON.stringify(changes) }),
  });
  expect(response.status).toBe(200);
  return response.json();
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
async function publisher(stack: DemoStack, path: string): Promise<any> {
  const headers = { authorization: `Bearer ${stack.secrets.adApiToken}` };
  const response = await fetch(`${stack.urls.adService}/client/v1${path}`, { headers });
  expect(response.status).toBe(200);
  return response.json();
}

/** Sets the visibility state, because a headless page never becomes hidden. */
function setHidden(page: Page, isHidden: boolean): Promise<void> {
  return page.evaluate((hidden) => {
    const state = hidden ? "hidden" : "visible";
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);
}
