import type { DemoStack } from "../scripts/demo-stack.ts";
import { closeAndGet, openWithNewCode, watchToTheEnd } from "./open-miniapp.ts";
import { expect, expectPaidOnce, test } from "./stack.ts";

const coins = {
  rewardPerView: 10,
  rewardUnit: { en: { one: "coin", other: "coins" } },
};
const asBefore = { rewardPerView: null, rewardUnit: null, skipOffer: false, closeWhenCredited: false };

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

test("a named reward stands on the offer, the end card and the status", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  await changeBot(stack, coins);
  await openWithNewCode({ api, page, stack, userId });
  await expect(page.getByRole("heading", { name: /^Watch \d+ s, get 10\s+coins$/ })).toBeVisible();
  await watchToTheEnd(page);
  await page.getByRole("button", { name: /^Earned: 10\s+coins/ }).click();
  await expect(page.getByText(/^\+10\s+coins$/)).toBeVisible();
  await expect(page.getByText(/^Your balance: 10\s+coins$/)).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
});

test("without an offer the ad plays at once, without sound, and pays", async ({ api, page, stack, userId }) => {
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
