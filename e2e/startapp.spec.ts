import { closeAndGet, launchUrl, watchToTheEnd } from "./open-miniapp.ts";
import { initDataOf } from "./scripted-viewer.ts";
import { expect, expectPaidOnce, newCode, test } from "./stack.ts";

test("a link with the publisher's own startapp value opens an ad, and the value arrives with the reward", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const initData = initDataOf(userId, stack.secrets, new Date(), "en", "ref_7000000123");
  // As Telegram opens it: the value is in the address and in the signed data.
  const address = `${stack.urls.adService}/app/${stack.secrets.botId}?tgWebAppStartParam=ref_7000000123`;
  await page.goto(launchUrl(address, userId, stack.secrets, { initData }));
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
  expect(await api.listRewards(userId)).toMatchObject([{ amount: 10, startParam: "ref_7000000123" }]);
});

test("a shared link with another user's code opens an ad of one's own", async ({ api, page, stack, userId }) => {
  const friend = `${userId}0`;
  const { code } = await newCode(api, friend);
  const initData = initDataOf(userId, stack.secrets, new Date(), "en", code);
  const address = `${stack.urls.adService}/app/${stack.secrets.botId}?tgWebAppStartParam=${code}`;
  await page.goto(launchUrl(address, userId, stack.secrets, { initData }));
  await expect(page.getByRole("button", { name: "Watch" })).toBeVisible();
});

test("launch data whose fragment was decoded on its way, once or altogether, open an ad in the client's colours", async ({
  page,
  stack,
  userId,
}) => {
  const initData = initDataOf(userId, stack.secrets);
  const address = `${stack.urls.adService}/app/${stack.secrets.botId}`;
  // The colours as Telegram for Android's own numbers: #17212b and white.
  const theme = encodeURIComponent(JSON.stringify({ bg_color: -15261397, text_color: -1 }));
  for (const data of [initData, decodeURIComponent(initData)]) {
    await page.goto("about:blank");
    await page.goto(`${address}#tgWebAppData=${data}&tgWebAppVersion=9.6&tgWebAppThemeParams=${theme}`);
    await expect(page.getByRole("button", { name: "Watch" })).toBeVisible();
    await expect(page.locator("html")).toHaveCSS("background-color", "rgb(23, 33, 43)");
  }
});
