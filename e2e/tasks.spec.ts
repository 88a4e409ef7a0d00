import type { Page } from "@playwright/test";
import { expect, test } from "./stack.ts";

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
