import type { Page } from "@playwright/test";
import { analyze } from "./axe.ts";
import { adIn, type PageWithAds, test } from "./in-app-game.ts";
import { launchUrl } from "./open-miniapp.ts";
import { initDataOf } from "./scripted-viewer.ts";
import { expect } from "./stack.ts";

test.describe.configure({ mode: "default" });
test.use({ hasTasks: true });

const taskIn = (page: Page) => page.getByRole("listitem").filter({ hasText: "Flower News" });

test("a user's list of tasks leads to the channel, and shows the coins of a join and that a leave took them back", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const calls: string[] = [];
  page.on("response", async (response) => {
    if (response.url().includes("/player/v1/tasks")) calls.push(await response.text().catch(() => ""));
  });
  // The chat's page signs the user in to the simulated Telegram, in which the channel is.
  await page.goto(`${stack.urls.demoBot}/?user=${userId}`);
  const url = launchUrl(`${stack.urls.adService}/app/${stack.secrets.botId}/tasks`, userId, stack.secrets);
  await page.goto(url);
  await expect(page.getByRole("heading", { name: "Tasks" })).toBeFocused();
  await expect(taskIn(page).getByText(/^Stay for/)).toBeVisible();
  expect((await analyze(page)).violations).toEqual([]);
  const opening = page.waitForEvent("popup");
  await taskIn(page).getByRole("button", { name: "Join: Flower News" }).click();
  const channel = await opening;
  await taskIn(page).getByRole("button", { name: "Check: Flower News" }).click();
  await expect(taskIn(page).getByText("Not reported yet. Try again in a moment.")).toBeVisible();

  await channel.getByRole("button", { name: "Join the channel" }).click();
  await expect(channel.getByText("Telegram has reported that you joined by your link.")).toBeVisible();
  await taskIn(page).getByRole("button", { name: "Check: Flower News" }).click();
  await expect(taskIn(page).getByText("Reward earned. To keep it, stay until")).toBeVisible();
  await expect(taskIn(page).getByText("+5 Reward credited")).toBeVisible();
  expect(await api.balance(userId)).toBe(5);

  await channel.getByRole("button", { name: "Leave the channel" }).click();
  await expect(channel.getByText("You left too early")).toBeVisible();
  await page.reload();
  await expect(taskIn(page).getByText("You left too early. The reward was taken back.")).toBeVisible();
  expect((await analyze(page)).violations).toEqual([]);
  expect(calls.length).toBeGreaterThan(4);
  expect(calls.join()).not.toMatch(/proof|price|revenue|"campaign/);
});

test("another user's launch shows another list, and forged launch data none", async ({ page, stack, userId }) => {
  const address = `${stack.urls.adService}/app/${stack.secrets.botId}/tasks`;
  await page.goto(launchUrl(address, `8${userId}`, stack.secrets));
  await expect(taskIn(page).getByRole("button", { name: "Join: Flower News" })).toBeVisible();
  const initData = initDataOf(userId, stack.secrets).replace("Viewer", "Other");
  await page.goto("about:blank");
  await page.goto(launchUrl(address, userId, stack.secrets, { initData }));
  await expect(page.getByRole("heading", { name: "We couldn’t confirm it’s you" })).toBeVisible();
});

test("in the publisher's own mini-app the list lies over the page, and the page gets its focus and an answer back", async ({
  page,
  stack,
  userId,
  game,
}) => {
  await game.open(page, userId);
  await page.locator("#play").focus();
  await page.evaluate(() => {
    const its = window as unknown as PageWithAds & { ads: { showTasks(): Promise<unknown> } };
    its.result = its.ads.showTasks();
  });
  const list = adIn(page);
  await expect(list.getByRole("heading", { name: "Tasks" })).toBeVisible();
  await expect(taskIn(list).getByRole("button", { name: "Join: Flower News" })).toBeVisible();
  const second = page.evaluate(() => (window as unknown as { ads: { showTasks(): Promise<unknown> } }).ads.showTasks());
  await expect(second).rejects.toThrow("await its result first");
  await list.getByRole("button", { name: "Close" }).click();
  expect(await page.evaluate(() => (window as unknown as PageWithAds).result)).toEqual({ outcome: "closed" });
  await expect(page.locator("iframe")).toHaveCount(0);
  await expect(page.locator("#play")).toBeFocused();

  // Pages of other origins may not frame it.
  const answer = await page.request.get(`${stack.urls.adService}/embed/${stack.secrets.botId}/tasks`);
  expect(answer.headers()["content-security-policy"]).toContain(`frame-ancestors ${game.origin};`);
});
