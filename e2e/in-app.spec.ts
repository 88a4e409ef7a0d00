import { adIn, type PageWithAds, result, show, startAd, test } from "./in-app-game.ts";
import { closeAndGet } from "./open-miniapp.ts";
import { initDataOf } from "./scripted-viewer.ts";
import { expect, expectNeverPaid, expectPaidOnce, newCode } from "./stack.ts";

test("an ad inside the publisher's own mini-app is watched, credited by the webhook, and the game gets its page back", async ({
  api,
  page,
  stack,
  userId,
  game,
}) => {
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  await game.open(page, userId);
  await page.locator("#play").focus();
  expect(page.frames()).toHaveLength(1);
  const available = () => page.evaluate(() => (window as unknown as PageWithAds).ads.availability());
  expect(await available()).toEqual({ available: true });
  await page.evaluate(() => (window as unknown as PageWithAds).ads.preload());
  await expect(page.locator("dialog")).toBeHidden();

  const { code } = await newCode(api, userId);
  await show(page, { code });
  await startAd(adIn(page));
  await adIn(page).getByRole("heading", { name: "You can close now" }).waitFor();
  // The publisher's answer may arrive before the ad service's, which has the event's id.
  const answered = page.waitForResponse(
    async (response) => response.url().endsWith("/status") && /"event_id":"evt_/.test(await response.text()),
  );
  await closeAndGet(adIn(page));
  await expect(adIn(page).getByRole("heading", { name: "Reward credited" })).toBeVisible();
  await expect(adIn(page).getByRole("listitem").filter({ hasText: "Done" })).toHaveCount(3);
  await answered;
  await adIn(page).getByRole("button", { name: "Close", exact: true }).click();
  expect(await result(page)).toMatchObject({
    outcome: "credited",
    eventId: expect.stringMatching(/^evt_/),
    secondsWatched: 2,
  });
  await expectPaidOnce(api, userId, "rewarded");

  await expect(page.locator("iframe")).toHaveCount(0);
  await expect(page.locator("#play")).toBeFocused();
  const posted = await game.posted(page);
  expect(posted).toContain("web_app_trigger_haptic_feedback");
  for (const ofTheGame of ["web_app_ready", "web_app_expand", "web_app_close", "iframe_ready"])
    expect(posted).not.toContain(ofTheGame);
  expect(faults).toEqual([]);
  expect(await available()).toEqual({ available: true });
  expect(stack.urls.adService).not.toBe(game.origin);
});

test("an ad that is left early earns nothing and says so; a second one at once is the developer's mistake", async ({
  api,
  page,
  userId,
  game,
}) => {
  await game.open(page, userId);
  await show(page);
  await adIn(page)
    .getByRole("button", { name: /^Watch/ })
    .waitFor();
  const second = page.evaluate(() => (window as unknown as PageWithAds).ads.show());
  await expect(second).rejects.toThrow("await its result first");
  await page.evaluate(() => {
    const its = window as unknown as PageWithAds;
    document.querySelector("dialog")?.remove();
    its.result = Promise.resolve("removed");
  });
  expect(await result(page)).toBe("removed");
  await expectNeverPaid(api, userId);
});

test("a page of another origin gets neither a grant nor a frame, and is told what to do", async ({
  api,
  page,
  stack,
  userId,
  game,
}) => {
  const other = game.origin.replace("localhost", "127.0.0.1");
  await stack.ads(["bots", "update", stack.secrets.botId, "--app-origin", other]);
  await game.open(page, userId);
  await show(page);
  expect(await result(page)).toContain(`--app-origin ${game.origin}`);

  // By hand: the browser shows the frame to nobody else, and a port from nobody else is taken.
  const refused = page.waitForEvent("console", (message) => message.text().includes("frame-ancestors"));
  await page.evaluate((src) => {
    const frame = document.createElement("iframe");
    frame.src = src;
    document.body.append(frame);
  }, `${stack.urls.adService}/embed/${stack.secrets.botId}`);
  await refused;
  await expectNeverPaid(api, userId);
});

test("forged launch data is refused, and messages by hand open nothing", async ({ api, page, stack, userId, game }) => {
  await game.open(page, userId, {
    initData: initDataOf(userId, stack.secrets)
      .replace(/hash=./, "hash=0")
      .replace("Viewer", "Other"),
  });
  await show(page);
  expect(await result(page)).toEqual({ outcome: "refused", reason: "INIT_DATA_INVALID" });

  const opened: string[] = [];
  page.on("request", (request) => request.url().endsWith("/sessions") && opened.push(request.url()));
  await page.evaluate(async (src) => {
    const frame = document.createElement("iframe");
    frame.src = src;
    document.body.append(frame);
    await new Promise((resolve) => addEventListener("message", resolve, { once: true }));
    // Neither a message without a port, nor what only a port may bring.
    for (const data of ["intermission-frame-port", { kind: "show", appGrant: "x", initData: "x", theme: {} }])
      frame.contentWindow?.postMessage(data, "*");
  }, `${stack.urls.adService}/embed/${stack.secrets.botId}`);
  await expect.poll(() => page.frames().length).toBe(2);
  expect(opened).toEqual([]);
  await expectNeverPaid(api, userId);
});

test("what the page's consent platform says goes with the ad that is opened", async ({ page, userId, game }) => {
  await game.open(page, userId);
  await page.evaluate(() => {
    const data = { tcString: "CPtest", gdprApplies: true, eventStatus: "tcloaded", listenerId: 1 };
    const __tcfapi = (command: string, _version: number, done: (data: object, isKnown: boolean) => void) => {
      if (command === "addEventListener") done(data, true);
    };
    Object.assign(window, { __tcfapi });
  });
  const opening = page.waitForRequest((request) => request.url().endsWith("/sessions"));
  await show(page);
  expect((await opening).postDataJSON()).toMatchObject({ consent: { gdpr: true, tcf: "CPtest" } });
});
