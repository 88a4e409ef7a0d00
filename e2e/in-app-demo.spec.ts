import type { FrameLocator, Page } from "@playwright/test";
import { analyze } from "./axe.ts";
import { watchIn } from "./in-app-game.ts";
import { expect, expectPaidOnce, test } from "./stack.ts";

test.use({ viewport: { width: 1280, height: 740 }, isMobile: false, hasTouch: false });

/** The game's page, as the demo shows it beside the timeline. */
const gameOf = (page: Page) => page.frameLocator("#field iframe");
const adOf = (game: FrameLocator) => game.frameLocator("iframe") as unknown as Page;

test("a newcomer goes from the chat to a game, watches an ad over it, and sees each step up to the ledger", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const { demoBot } = stack.urls;
  await stack.ads(["bots", "update", stack.secrets.botId, "--app-origin", demoBot]);
  await page.goto(`${demoBot}/?user=${userId}`);
  await page.getByRole("link", { name: "Ads inside a game of your own" }).click();
  await expect(page.getByRole("heading", { name: "Sprout, a game with ads of its own" })).toBeVisible();
  const game = gameOf(page);
  await expect(game.getByText("2 drops of water")).toBeVisible();
  await game.getByRole("button", { name: "Water the plant" }).click();
  await expect(game.getByText("1 drop of water")).toBeVisible();
  expect((await analyze(page)).violations).toEqual([]);

  await game.getByRole("button", { name: "Watch an ad for 3 drops" }).click();
  await watchIn(adOf(game));
  await adOf(game).getByRole("button", { name: "Close", exact: true }).click();
  await expect(game.getByText("4 drops of water")).toBeVisible();
  await expect(game.getByText("Three drops for you")).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");

  const steps = page.locator(".step .step-title");
  for (const step of [
    "The bot got a code",
    "The game asks for an ad",
    "First frame on the screen",
    "Earned: the ad service recorded the event",
    "Signature verified",
    "Ledger of the bot",
    "show() has answered the game",
  ])
    await expect(steps.filter({ hasText: step })).toHaveCount(1);
  // Between two days: an interstitial, and none within the bot's pause. The morning comes all the same.
  await game.getByRole("button", { name: "Sleep until morning" }).click();
  await adOf(game).getByRole("button", { name: "You can close now" }).click();
  await expect(game.getByText("5 drops of water")).toBeVisible();
  await game.getByRole("button", { name: "Sleep until morning" }).click();
  await expect(game.getByText("6 drops of water")).toBeVisible();
  await page.getByRole("link", { name: "Back to the chat" }).click();
  await expect(page.getByRole("heading", { name: "Coin Garden" }).first()).toBeVisible();
});

test("the game's backend gives a code to nobody whose launch data is not signed", async ({ stack }) => {
  const answer = await fetch(`${stack.urls.demoBot}/game/code`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ initData: "user=%7B%22id%22%3A7%7D&hash=00" }),
  });
  expect(answer.status).toBe(401);
});
