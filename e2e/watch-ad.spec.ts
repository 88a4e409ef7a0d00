import { arriveAtLanding } from "./arrive-at-landing.ts";
import { closeAndGet, launchUrl, openWithNewCode, stopAtStart, watchToTheEnd } from "./open-miniapp.ts";
import { ScriptedViewer } from "./scripted-viewer.ts";
import { expect, expectNeverPaid, expectNothingPaid, expectPaidOnce, newCode, test } from "./stack.ts";

test("watching to the end and closing pays once, and the mini-app shows it", async ({ api, page, stack, userId }) => {
  await openWithNewCode({ api, page, stack, userId });
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  await expect(page.getByText("10").first()).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
});

test("reading about the ad holds it, a report counts, and the view is paid after it", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  await openWithNewCode({ api, page, stack, userId });
  const label = page.getByRole("button", { name: "Ad", exact: true }).filter({ visible: true });
  const sheet = page.getByRole("dialog");
  await label.click();
  await expect(sheet).toContainText("The advertiser shows it to everyone");
  await page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();
  await expect(label).toBeFocused();

  await page.getByRole("button", { name: "Watch" }).click();
  await label.press("Enter");
  await expect(page.locator("video")).toHaveJSProperty("paused", true);
  // The first try is lost on its way.
  await page.route("**/ad-reports", (route) => route.abort(), { times: 1 });
  await sheet.getByRole("button", { name: "Report this ad" }).click();
  await sheet.getByRole("button", { name: "It is misleading" }).click();
  await sheet.getByRole("button", { name: "Try again" }).click();
  await expect(sheet.getByRole("heading", { name: /Thank you/ })).toBeFocused();
  expect(await stack.ads(["creatives", "reports"])).toContain("misleading");
  await expect(page.locator("video")).toHaveJSProperty("paused", true);
  await page.keyboard.press("Escape");
  await expect(label).toBeFocused();
  await label.press("Enter");
  await expect(sheet).toContainText("Thank you");
  await expect(sheet.getByRole("button", { name: "Report this ad" })).toHaveCount(0);
  // The service confirms the view while the sheet is open again, at the end of the video.
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  await page.route("**/reports", (route) => opened.then(() => route.continue()));
  await page.keyboard.press("Escape");
  await page.locator("html[data-state=confirming]").waitFor();
  await label.press("Enter");
  await expect(sheet.getByRole("heading", { name: "About this ad" })).toBeFocused();
  open();
  await page.locator("html[data-state=watched]").waitFor();
  await expect(sheet.getByRole("heading", { name: "About this ad" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(label).toBeFocused();
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("closing early asks for confirmation, pays nothing, and keeps the progress", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const { miniappUrl } = await newCode(api, userId);
  await stopAtStart(page);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await page.getByRole("button", { name: "Watch" }).click();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await expect(page.getByRole("button", { name: "Resume" })).toBeFocused();
  await page.getByRole("button", { name: "Close and lose the reward" }).click();
  await page.reload();
  await watchToTheEnd(page);
  // The rest of the video took long enough for a payment of the first part to arrive.
  expect(await api.listRewards(userId)).toEqual([]);
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("swiping the page away after the end still pays", { tag: "@long" }, async ({ api, page, stack, userId }) => {
  await openWithNewCode({ api, page, stack, userId });
  await watchToTheEnd(page);
  await page.close({ runBeforeUnload: false });
  await expectPaidOnce(api, userId, "rewarded");
});

test("a swipe before the first report loses no played range", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.addInitScript(() => {
    // Runs in the page, because on a busy machine the video could end before a call from the test arrives.
    const onTime = ({ target }: Event) => {
      if (!(target instanceof HTMLVideoElement) || target.currentTime < 0.4 || sessionStorage.getItem("left")) return;
      sessionStorage.setItem("left", "once");
      addEventListener("pagehide", () => sessionStorage.setItem("left at", String(target.currentTime * 1000)));
      location.href = "about:blank";
    };
    addEventListener("timeupdate", onTime, true);
  });
  const { code, miniappUrl } = await newCode(api, userId);
  const url = launchUrl(miniappUrl, userId, stack.secrets);
  await page.goto(url);
  await page.getByRole("button", { name: "Watch" }).click();
  await page.waitForURL("about:blank");
  const headers = { authorization: `Bearer ${stack.secrets.adApiToken}` };
  const accepted = async () => {
    const response = await fetch(`${stack.urls.adService}/client/v1/codes/${code}`, { headers });
    return (await response.json()).sessions[0].accepted_ms;
  };
  await expect.poll(accepted).toBeGreaterThan(400);
  const opening = page.waitForResponse((response) => response.url().endsWith("/player/v1/sessions"));
  await page.goto(url);
  const { resume_at_ms: resumeAtMs } = await (await opening).json();
  const leftAtMs = await page.evaluate(() => Number(sessionStorage.getItem("left at")));
  // A video stops slightly after `pause()`.
  expect(Math.abs(resumeAtMs - leftAtMs)).toBeLessThan(100);
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("reopening in the middle continues at the same second", async ({ api, page, stack, userId }) => {
  await page.addInitScript(() => {
    // Runs in the page, because on a busy machine the video could end before a call from the test arrives.
    const onTime = ({ target }: Event) => {
      if (!(target instanceof HTMLVideoElement) || target.currentTime < 1 || sessionStorage.getItem("stopped")) return;
      sessionStorage.setItem("stopped", "once");
      target.pause();
    };
    addEventListener("timeupdate", onTime, true);
  });
  await openWithNewCode({ api, page, stack, userId });
  const counted = page.waitForResponse(
    async (response) => response.url().endsWith("/reports") && (await response.json()).accepted_ms >= 1000,
  );
  await page.getByRole("button", { name: "Watch" }).click();
  await counted;
  const opening = page.waitForResponse((response) => response.url().endsWith("/player/v1/sessions"));
  await page.reload();
  const { resume_at_ms: resumeAtMs } = await (await opening).json();
  expect(resumeAtMs).toBeGreaterThanOrEqual(1000);
  const video = page.locator("video");
  const playedMs = () => video.evaluate(({ currentTime }: HTMLVideoElement) => Math.round(currentTime * 1000));
  await expect.poll(playedMs).toBe(resumeAtMs);
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("two tabs pay once, and the older one shows that the ad plays elsewhere", async ({
  api,
  context,
  page,
  stack,
  userId,
}) => {
  const { miniappUrl } = await newCode(api, userId);
  const url = launchUrl(miniappUrl, userId, stack.secrets);
  await page.goto(url);
  await page.getByRole("button", { name: "Watch" }).waitFor();
  const second = await context.newPage();
  await second.goto(url);
  await watchToTheEnd(second);
  await closeAndGet(second);
  await expect(second.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  await page.bringToFront();
  await page.getByRole("button", { name: "Watch" }).click();
  await expect(
    page.getByRole("heading", { name: /Playing somewhere else|collected already|Reward credited/ }),
  ).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
});

test("a double tap on each button pays once", { tag: "@long" }, async ({ api, page, stack, userId }) => {
  await openWithNewCode({ api, page, stack, userId });
  await page.getByRole("button", { name: "Watch" }).dblclick();
  await page.getByRole("heading", { name: "You can close now" }).waitFor({ timeout: 20_000 });
  await page.getByRole("button", { name: /^Reward earned/ }).dblclick();
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
});

test("seeking and higher speed in the page pay nothing before the ad's duration has passed", async ({
  api,
  page,
  stack,
  userId,
}) => {
  await openWithNewCode({ api, page, stack, userId });
  // Before the tap: on a busy machine part of the video has played when the test goes on.
  const startedAt = Date.now();
  await page.getByRole("button", { name: "Watch" }).click();
  await page.evaluate(() => {
    const video = document.querySelector("video");
    if (!video) throw new Error("no video");
    video.playbackRate = 4;
    video.currentTime = 1.9;
  });
  await page.getByRole("heading", { name: "You can close now" }).waitFor({ timeout: 20_000 });
  expect(Date.now() - startedAt).toBeGreaterThan(1500);
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("playback is paused while the page is hidden", { tag: "@long" }, async ({ api, page, stack, userId }) => {
  await openWithNewCode({ api, page, stack, userId });
  await page.getByRole("button", { name: "Watch" }).click();
  // A headless page never becomes hidden, so the test sets the visibility state; in the page, since a busy machine may be slower
  // than the video of two seconds. `andTap`: the call to action is tapped as soon as the video plays on.
  const setHidden = (isHidden: boolean, andTap = false) =>
    page.evaluate(
      async ({ isHidden, andTap }) => {
        const video = document.querySelector("video");
        const until = async (isTrue: () => boolean) => {
          while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10));
        };
        await until(() => (video?.currentTime ?? 0) > 0.3);
        Object.defineProperty(document, "visibilityState", {
          configurable: true,
          get: () => (isHidden ? "hidden" : "visible"),
        });
        Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
        document.dispatchEvent(new Event("visibilitychange"));
        if (!andTap) return;
        await until(() => video?.paused === false);
        document.querySelector<HTMLElement>(".stage-foot a")?.click();
      },
      { isHidden, andTap },
    );
  await setHidden(true);
  await expect(page.locator("video")).toHaveJSProperty("paused", true);
  await expectNothingPaid(api, userId);
  // No event says that the page left, or is back: the tap itself holds the ad.
  const landing = page.context().waitForEvent("page");
  await setHidden(false, true);
  await expect(page.locator("video")).toHaveJSProperty("paused", true);
  await (await landing).close();
  await page.getByRole("button", { name: "Tap to continue" }).click();
  await page.getByRole("heading", { name: "You can close now" }).waitFor({ timeout: 20_000 });
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("a link click after a view with the same code is recorded with amount zero", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  const { code, miniappUrl, directLink } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
  await page.goto(directLink);
  await arriveAtLanding(page, `${stack.urls.demoBot}/landing`);
  await expect.poll(async () => (await api.listRewards(userId)).length).toBe(2);
  const second = (await api.listRewards(userId)).find((entry) => entry.event === "direct_link");
  expect(second).toMatchObject({ code, amount: 0, reason: "code-already-paid" });
  expect(await api.balance(userId)).toBe(10);
});

test("without a code, with only the user id in the URL, the user's own code is used", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  const url = `${stack.urls.adService}/app/${stack.secrets.botId}?user_tg_id=999`;
  await page.goto(launchUrl(url, userId, stack.secrets));
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
  expect(await api.listRewards("999")).toEqual([]);
});

test.describe("an ad that cannot be watched is explained", () => {
  test("outside Telegram", async ({ page, stack }) => {
    await page.goto(`${stack.urls.adService}/app/${stack.secrets.botId}`);
    await expect(page.getByRole("heading", { name: "Open this from Telegram" })).toBeVisible();
  });
  test("damaged launch data", async ({ api, page, stack, userId }) => {
    const { miniappUrl } = await newCode(api, userId);
    await page.goto(launchUrl(miniappUrl, userId, stack.secrets, { initData: "user=%7B%7D&hash=00" }));
    await expect(page.getByRole("heading", { name: "We couldn’t confirm it’s you" })).toBeVisible();
  });
  test("another user's code", async ({ api, page, stack, userId }) => {
    const { miniappUrl } = await newCode(api, userId);
    await page.goto(launchUrl(miniappUrl, `${userId}5`, stack.secrets));
    await expect(page.getByRole("heading", { name: "This link is someone else’s" })).toBeVisible();
  });
  test("an unknown code", async ({ page, stack, userId }) => {
    const url = `${stack.urls.adService}/app/${stack.secrets.botId}?code=ABCDEFGHJKLMNPQRST`;
    await page.goto(launchUrl(url, userId, stack.secrets));
    await expect(page.getByRole("heading", { name: "We don’t know this link" })).toBeVisible();
  });
});

test("a forged report for the page's own session changes nothing", async ({ api, page, stack, userId }) => {
  const { miniappUrl } = await newCode(api, userId);
  const opening = page.waitForResponse((response) => response.url().endsWith("/player/v1/sessions"));
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  const { session_id: id, token } = await (await opening).json();
  const viewer = new ScriptedViewer(stack.urls.adService);
  // Not the whole video: if the page took a second to load, such a report may be accepted once the time has passed.
  const forged = { sequence: 500, from_ms: 500, to_ms: 1500, visible: true, muted: true };
  await viewer.report(id, { token, reports: [forged], started: true, closed: "tap" });
  await expectNeverPaid(api, userId);
});
