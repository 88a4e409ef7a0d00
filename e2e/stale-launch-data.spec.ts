import { launchUrl, watchToTheEnd } from "./open-miniapp.ts";
import { initDataOf } from "./scripted-viewer.ts";
import { expect, expectPaidOnce, newCode, test } from "./stack.ts";

const seventyMinutesAgo = () => new Date(Date.now() - 70 * 60_000);

test("an app kept in the background for 70 minutes continues its ad and is paid, and shows the reward", {
  tag: "@long",
}, async ({ api, page, stack, userId }) => {
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await page.getByRole("button", { name: "Watch" }).waitFor();
  // The client reloads the page with the launch data of 70 minutes ago.
  const initData = initDataOf(userId, stack.secrets, seventyMinutesAgo());
  await page.goto("about:blank");
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets, { initData }));
  await watchToTheEnd(page);
  await page.getByRole("button", { name: /^Reward earned/ }).click();
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
});

for (const { language, title, action } of [
  { language: "en", title: "This was open for a long time", action: "Open the bot" },
  { language: "ru", title: "Окно было открыто слишком долго", action: "Открыть бота" },
]) {
  const tag = language === "en" ? [] : "@long";
  const name = `launch data that is 70 minutes old and has no session is explained, with a link to the bot, in ${language}`;
  test(name, { tag }, async ({ page, stack, userId }) => {
    const initData = initDataOf(userId, stack.secrets, seventyMinutesAgo(), language);
    const address = `${stack.urls.adService}/app/${stack.secrets.botId}`;
    await page.goto(launchUrl(address, userId, stack.secrets, { initData }));
    await expect(page.getByRole("heading", { name: title })).toBeVisible();
    await expect(page.getByRole("link", { name: action })).toHaveAttribute("href", "https://t.me/coin_garden_bot");
  });
}
