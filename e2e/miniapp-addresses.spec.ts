import { launchUrl, watchToTheEnd } from "./open-miniapp.ts";
import { expect, expectPaidOnce, test } from "./stack.ts";

// Deployed bots append only `?user_tg_id=…` to their mini-app URL. `npm test` watches at one such address in watch-ad.spec.ts.
for (const path of ["/app/{bot}/", "/app/{bot}", "/app", "/app/", "//app//{bot}//"]) {
  test(`the app opened at ${path}?user_tg_id=… is watched to the end and paid`, { tag: "@long" }, async ({
    api,
    page,
    stack,
    userId,
  }) => {
    const address = `${stack.urls.adService}${path.replace("{bot}", stack.secrets.botId)}?user_tg_id=${userId}`;
    await page.goto(launchUrl(address, userId, stack.secrets));
    await watchToTheEnd(page);
    await page.getByRole("button", { name: /^Reward earned/ }).click();
    await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
    await expectPaidOnce(api, userId, "rewarded");
  });
}
