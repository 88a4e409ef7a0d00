import type { Page } from "@playwright/test";
import { analyze } from "./axe.ts";
import { expect, test } from "./stack.ts";

// One worker, so that the console shows the tasks of the flows before it.
test.describe.configure({ mode: "default" });
test.use({ hasTasks: true });

/** Asks the bot for tasks, and follows the button to the channel behind the user's own invite link. */
async function openChannel(page: Page): Promise<Page> {
  await page.getByRole("textbox", { name: "Message" }).fill("/tasks");
  await page.getByRole("button", { name: "Send" }).click();
  const opening = page.waitForEvent("popup");
  await page.getByRole("link", { name: "Flower News" }).last().click();
  const channel = await opening;
  await expect(channel.getByRole("heading", { name: "Flower News" })).toBeVisible();
  await expect(channel.getByText("You are invited by a link that is yours alone")).toBeVisible();
  return channel;
}

const join = (channel: Page) => channel.getByRole("button", { name: "Join the channel" });
const leave = (channel: Page) => channel.getByRole("button", { name: "Leave the channel" });

test("who joins a task's channel is paid, who leaves it too early pays back, and joining again earns nothing", async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.goto(`${stack.urls.demoBot}/?user=${userId}`);
  const channel = await openChannel(page);
  await join(channel).click();
  await expect(channel.getByText("Telegram has reported that you joined by your link.")).toBeVisible();
  await expect(page.getByText("+5 coins for joining. You have 5 coins now.")).toBeVisible();
  expect(await api.balance(userId)).toBe(5);

  await leave(channel).click();
  await expect(channel.getByText("You left too early")).toBeVisible();
  await expect(page.getByText("−5 coins: you left the channel too early. You have 0 coins now.")).toBeVisible();

  await join(channel).click();
  await expect(channel.getByText("You are a member.")).toBeVisible();
  await leave(channel).click();
  await expect(channel.getByText("You can still join the channel by its name.")).toBeVisible();
  // The reports of both have been read when the task bot's next user is paid.
  await joinsAsAnother(page, stack.urls.demoBot, userId);
  expect(await api.balance(userId)).toBe(0);
  await expect(page.getByText("coins for joining")).toHaveCount(1);
  await page.getByRole("textbox", { name: "Message" }).fill("/tasks");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByText("There is no channel to join for you now.")).toBeVisible();
});

test("an invite link that is passed on pays nobody", async ({ api, page, stack, userId }) => {
  await page.goto(`${stack.urls.demoBot}/?user=${userId}`);
  const channel = await openChannel(page);
  await channel.getByRole("button", { name: "Cheat: pass the link on" }).click();
  await expect(channel.getByText("That does not count: nothing is paid.")).toBeVisible();
  await join(channel).click();
  await expect(channel.getByText("You are a member.")).toBeVisible();
  await joinsAsAnother(page, stack.urls.demoBot, userId);
  expect(await api.balance(userId)).toBe(0);
});

test("the console shows channels with their rights, joins with their history, and who may add a channel what to click", async ({
  browser,
  stack,
  ownerState,
}) => {
  const baseURL = `${stack.urls.adService.replace("127.0.0.1", "localhost")}/console/`;
  const invited = `flowers${Date.now()}@demo.example`;
  const add = ["people", "add", invited, "--role", "advertiser", "--advertiser", "Flower News", "--json"];
  await stack.ads(add);
  const { link } = JSON.parse(await stack.ads(["people", "sign-in-link", invited, "--json"]));
  const owner = await browser.newPage({ baseURL, storageState: ownerState, viewport: { width: 1280, height: 900 } });
  await owner.goto("tasks");
  await expect(owner.getByRole("table", { name: "Channels" }).getByText("ready")).toBeVisible();
  await expect(owner.getByRole("table", { name: "Still members by day" })).toHaveCount(0);
  const joins = owner.getByRole("table", { name: "Tasks of users" });
  await joins
    .getByRole("row")
    .filter({ hasText: "taken back" })
    .first()
    .getByRole("button", { name: "Flower News" })
    .click();
  const history = owner.getByRole("dialog");
  await expect(history.getByText("Left, payment taken back")).toBeVisible();
  await expect(history.getByText("Telegram reported the join by the task's own link.")).toBeVisible();
  await owner.screenshot({ path: test.info().outputPath("history.png") });
  await owner.keyboard.press("Escape");
  await owner.getByRole("combobox", { name: "State" }).selectOption({ label: "does not count" });
  await joins.getByRole("button", { name: "Flower News" }).first().click();
  await expect(history.getByText("Another user used the link.")).toBeVisible();
  await owner.close();

  const phone = await browser.newPage({
    baseURL,
    viewport: { width: 360, height: 780 },
    colorScheme: "dark",
    locale: "ru-RU",
  });
  await phone.goto(link);
  await phone.locator("#content h1").waitFor();
  await phone.goto("tasks");
  await expect(phone.getByRole("heading", { name: "Задания", exact: true })).toBeVisible();
  await expect(phone.getByText("готов", { exact: true })).toBeVisible();
  // The advertiser does not see the publisher's users.
  await expect(phone.getByText("Пользователь", { exact: true })).toHaveCount(0);
  expect(await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  expect((await analyze(phone)).violations).toEqual([]);
  await phone.screenshot({ path: test.info().outputPath("advertiser.png"), fullPage: true });
  await phone.getByRole("button", { name: "Добавить канал" }).click();
  const dialog = phone.getByRole("dialog");
  await expect(dialog.getByText("найдите @")).toBeVisible();
  expect((await analyze(phone)).violations).toEqual([]);
  await phone.screenshot({ path: test.info().outputPath("add-channel.png") });
  await dialog.getByRole("textbox", { name: "Канал или группа" }).fill("-1001000000002");
  await dialog.getByRole("button", { name: "Проверить и добавить" }).click();
  await expect(dialog.getByText("Канал готов к заданиям.")).toBeVisible();
  await phone.screenshot({ path: test.info().outputPath("added.png") });
  await phone.close();
});

/** A user of this test alone joins and is paid. */
async function joinsAsAnother(page: Page, chatUrl: string, userId: string): Promise<void> {
  const context = await page.context().browser()?.newContext();
  if (context === undefined) throw new Error("the browser has gone");
  const other = await context.newPage();
  await other.goto(`${chatUrl}/?user=9${userId}`);
  const channel = await openChannel(other);
  await join(channel).click();
  await expect(other.getByText("+5 coins for joining.")).toBeVisible();
  await context.close();
}
