import { join } from "node:path";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { closeAndGet, launchUrl, openWithNewCode, stopAtStart, watchToTheEnd } from "./open-miniapp.ts";
import { expect, expectPaidOnce, test } from "./stack.ts";

const coins = {
  rewardPerView: 10,
  rewardUnit: { en: { one: "coin", other: "coins" } },
};
const asBefore = { dailyCap: 100, rewardPerView: null, rewardUnit: null, skipOffer: false, closeWhenCredited: false };

async function changeBot(stack: DemoStack, settings: object): Promise<void> {
  const { operatorToken, botId } = stack.secrets;
  const response = await fetch(`${stack.urls.adService}/operator/v1/bots/${botId}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify(settings),
  });
  if (!response.ok) throw new Error(`the bot was not changed: ${response.status} ${await response.text()}`);
}

test.afterEach(({ stack }) => changeBot(stack, asBefore));

test("a named reward stands on the offer, the player, the question before leaving, the end card and the status", async ({
  api,
  page,
  stack,
  userId,
}) => {
  await changeBot(stack, coins);
  await openWithNewCode({ api, page, stack, userId });
  await expect(page.getByRole("heading", { name: /^Watch \d+\ss, get 10\s+coins$/ })).toBeVisible();
  await stopAtStart(page);
  await page.reload();
  await page.getByRole("button", { name: /^Watch\s+\+10\s+coins$/ }).click();
  await expect(page.getByRole("timer")).toHaveText(/^\+10\s+coins in \d+\ss$/);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await expect(page.getByRole("dialog", { name: /^Close and lose 10\s+coins\?$/ })).toBeVisible();
  await page.getByRole("button", { name: "Resume" }).click();
  const tap = page.getByRole("button", { name: /^Tap to/ });
  const end = page.getByRole("heading", { name: "You can close now" });
  await tap.or(end).first().waitFor({ state: "attached" });
  if (await tap.isVisible()) await tap.click();
  await end.waitFor({ state: "attached", timeout: 20_000 });
  await page.getByRole("button", { name: /^Earned: 10\s+coins/ }).click();
  await expect(page.getByRole("img", { name: /^\+10\s+coins$/ })).toHaveText(/^\+10\s+coins$/);
  await expect(page.getByText(/^Your balance: 10\s+coins$/)).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
});

test("the next ad's button is the main one and counts the day's ads; its video loads meanwhile, and nothing is opened before the tap", {
  tag: "@long",
}, async ({ api, page, stack, userId }) => {
  await changeBot(stack, { ...coins, dailyCap: 2 });
  await openWithNewCode({ api, page, stack, userId });
  await watchToTheEnd(page);
  const openings: unknown[] = [];
  page.on("request", (request) => {
    const isOpening = request.method() === "POST" && request.url().endsWith("/player/v1/sessions");
    if (isOpening) openings.push(request.postDataJSON());
  });
  await page.getByRole("button", { name: /^Earned: 10/ }).click();
  const another = page.getByRole("button", { name: /^Watch another ad\s*\+10\s+coins\s+2 of 2 today$/ });
  await expect(another).toHaveClass(/button-primary/);
  await expect(page.getByRole("button", { name: "Close" })).toHaveClass(/button-secondary/);
  expect(openings).toEqual([]);
  await another.click();
  await watchToTheEnd(page);
  expect(openings).toMatchObject([{ another: true, preloaded: expect.stringMatching(/\.mp4$/) }]);
  await page.getByRole("button", { name: /^Earned: 10/ }).click();
  await expect(page.getByText(/^You can watch the next ad from .*\d:\d\d/)).toBeVisible();
  expect(await api.balance(userId)).toBe(20);
});

test("the bot's picture and the unit's icon stand where the reward is named; where they are broken, nothing moves", {
  tag: "@long",
}, async ({ api, page, stack, userId }) => {
  await changeBot(stack, coins);
  const icon = page.locator(".unit-icon");
  const pictureIn = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element, "::before").backgroundImage);
  const named = async (command: string, file: string) =>
    JSON.parse(await stack.ads(["bots", command, stack.secrets.botId, join(pictures, file), "--json"]));
  const places = () => page.locator("h1, .offer-body .secondary, .foot").evaluateAll(boxes);
  try {
    const { pictureFileName } = await named("picture", "bot-picture.webp");
    const { unitIconFileName } = await named("unit-icon", "coin.webp");
    expect(pictureFileName).not.toBe(unitIconFileName);
    // Held, so that the page is seen before the app has started.
    const app = Promise.withResolvers<void>();
    await page.route("**/app/assets/*.js", (route) => app.promise.then(() => route.continue()));
    const opening = openWithNewCode({ api, page, stack, userId });
    await expect.poll(() => pictureIn(".opening")).toContain(pictureFileName);
    app.resolve();
    await opening;
    await expect(page.getByRole("button", { name: /^Watch\s+\+10\s+coins$/ })).toBeVisible();
    expect(await pictureIn(".offer-body .secondary")).toContain(pictureFileName);
    await expect(icon).toHaveCSS("background-image", new RegExp(unitIconFileName));
    const whole = await places();
    await page.route("**/media/*.webp", (route) => route.abort());
    await page.reload();
    await expect(icon).toBeVisible();
    expect(await places()).toEqual(whole);
    await page.unrouteAll();
    await watchToTheEnd(page);
    await page.getByRole("button", { name: /^Earned: 10/ }).click();
    await expect(page.getByRole("img", { name: /^\+10\s+coins$/ }).locator(icon)).toBeVisible();
    expect(await pictureIn(".notice-picture")).toContain(pictureFileName);
  } finally {
    for (const command of ["picture", "unit-icon"]) await stack.ads(["bots", command, stack.secrets.botId, "none"]);
  }
});

/** Of the sizes that need no ffmpeg. */
const pictures = join(import.meta.dirname, "../apps/ad-service/sample");

function boxes(elements: Element[]): number[][] {
  return elements.map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, width, height];
  });
}

test("a code of a join names the channel in place of coins, and no further ad is offered", { tag: "@long" }, async ({
  page,
  stack,
  userId,
}) => {
  await changeBot(stack, coins);
  const { botId, adApiToken } = stack.secrets;
  const created = await fetch(`${stack.urls.adService}/client/v1/codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${adApiToken}`, "content-type": "application/json" },
    body: JSON.stringify({ bot_id: botId, user_tg_id: userId, reference: "join:-1", join: { title: "Secret Garden" } }),
  });
  const { miniapp_url: miniappUrl } = (await created.json()) as { miniapp_url: string };
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await expect(page.getByRole("heading", { name: /^Watch \d+\ss, get a place in Secret Garden$/ })).toBeVisible();
  await watchToTheEnd(page);
  await page.getByRole("button", { name: /^Earned: a place in Secret Garden/ }).click();
  await expect(page.getByRole("heading", { name: "Earned: a place in Secret Garden" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Close" })).toBeVisible();
  await expect(page.getByRole("button", { name: /^Watch another ad/ })).toHaveCount(0);
  await expect(page.getByText("coins")).toHaveCount(0);
});

test("without an offer the ad plays at once, without sound, and pays", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  await changeBot(stack, { skipOffer: true });
  await openWithNewCode({ api, page, stack, userId });
  await expect(page.getByRole("button", { name: "Turn sound on" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Watch", exact: true })).toHaveCount(0);
  await expect(page.getByRole("heading", { name: "You can close now" })).toBeAttached({ timeout: 20_000 });
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test.describe("the screen of a credited reward", () => {
  const closes = "This window closes by itself. Touch it to keep it open.";
  const closedByApp = () => Reflect.get(window, "closeRequests") ?? 0;

  test.beforeEach(async ({ page, stack }) => {
    await changeBot(stack, { closeWhenCredited: true });
    await page.addInitScript(() => {
      const count = (name: unknown) => {
        if (name === "web_app_close")
          Reflect.set(window, "closeRequests", (Reflect.get(window, "closeRequests") ?? 0) + 1);
      };
      // The bridge of Telegram's phone clients.
      Reflect.set(window, "TelegramWebviewProxy", { postEvent: (name: string) => count(name) });
    });
  });

  test("closes itself", { tag: "@long" }, async ({ api, page, stack, userId }) => {
    await page.clock.install();
    await page.clock.resume();
    await openWithNewCode({ api, page, stack, userId });
    await watchToTheEnd(page);
    await closeAndGet(page);
    await expect(page.getByText(closes)).toBeVisible();
    await page.clock.runFor(10_000);
    await expect.poll(() => page.evaluate(closedByApp)).toBe(1);
  });

  test("stays after a touch, and with reduced motion", { tag: "@long" }, async ({ api, page, stack, userId }) => {
    await openWithNewCode({ api, page, stack, userId });
    await watchToTheEnd(page);
    await closeAndGet(page);
    await page.getByText(closes).dispatchEvent("pointerdown");
    await expect(page.getByText(closes)).toHaveCount(0);
    await page.clock.install();
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.reload();
    await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
    await page.clock.runFor(10_000);
    await expect(page.getByText(closes)).toHaveCount(0);
    expect(await page.evaluate(closedByApp)).toBe(0);
  });
});
