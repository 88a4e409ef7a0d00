import type { FrameLocator, Page } from "@playwright/test";
import { arriveAtLanding } from "./arrive-at-landing.ts";
import { stopAtStart } from "./open-miniapp.ts";
import { expect, expectNeverPaid, expectPaidOnce, test } from "./stack.ts";

async function askForAd(page: Page, chatUrl: string, userId: string): Promise<void> {
  await page.goto(`${chatUrl}/?user=${userId}`);
  await page.getByRole("textbox", { name: "Message" }).fill("/bonus");
  await page.getByRole("button", { name: "Send" }).click();
}

async function openMiniapp(page: Page): Promise<FrameLocator> {
  await page.getByRole("button", { name: "Watch an ad" }).click();
  return page.frameLocator('iframe[title="Mini-app"]');
}

test("an ad requested in the chat, watched and closed is paid; the bot announces it, and its button says so", async ({
  api,
  page,
  stack,
  userId,
}) => {
  await askForAd(page, stack.urls.demoBot, userId);
  await page.getByRole("button", { name: "Watch an ad" }).waitFor();
  const replies = page.getByRole("group", { name: "Quick replies" });
  await expect(replies.getByRole("button", { name: "Balance" })).toBeVisible();
  // A double tap sends the command once, and the tapped reply keeps its place and the focus.
  await replies.getByRole("button", { name: "Balance" }).dblclick();
  await expect(page.getByText("You have 0 coins.")).toHaveCount(1);
  await expect(replies.getByRole("button")).not.toHaveCount(0);

  const miniapp = await openMiniapp(page);
  await miniapp.getByRole("button", { name: "Watch" }).click();
  await miniapp.getByRole("button", { name: /^Reward earned/ }).click({ timeout: 20_000 });
  await expect(miniapp.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  await miniapp.getByRole("button", { name: "Close" }).click();
  await expect(page.locator("iframe")).toHaveCount(0);
  await expect(page.getByText("+10 coins for watching. You have 10 coins now.")).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
  const used = page.getByRole("button", { name: "Watched", exact: true });
  await expect(used).toBeVisible();
  await page.reload();
  await expect(used).toBeVisible();
  await expect(page.getByRole("button", { name: "Watch an ad" })).toHaveCount(0);

  await page.getByRole("button", { name: "What happened" }).click();
  const facts = page.getByRole("complementary");
  await facts.getByRole("tab", { name: "Webhooks" }).click();
  await expect(facts.locator(".receipts").getByText("Signature verified").first()).toBeVisible();
  await expect(facts.locator(".receipts details[open]").getByText(`"user_tg_id":"${userId}"`)).toBeVisible();
  await stack.ads(["endpoints", "test", stack.secrets.botId]);
  await expect(facts.getByRole("heading", { name: "Test of the set-up" }).first()).toBeVisible();
  await expect(facts.getByText("the ad service sent it to check").first()).toBeVisible();
});

test("who requests to join the private channel watches one ad and is in, without coins", async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.goto(`${stack.urls.demoBot}/?user=${userId}`);
  await page.getByRole("button", { name: /^Secret Garden\s+Request to join$/ }).click();
  const miniapp = page.frameLocator('iframe[title="Mini-app"]');
  await expect(miniapp.getByRole("heading", { name: /get a place in Secret Garden$/ })).toBeVisible();
  await miniapp.getByRole("button", { name: /^Watch/ }).click();
  const earned = "Earned: a place in Secret Garden";
  await miniapp.getByRole("button", { name: earned }).click({ timeout: 20_000 });
  await expect(miniapp.getByRole("heading", { name: earned })).toBeVisible();
  await miniapp.getByRole("button", { name: "Close" }).click();
  await expect(page.getByText("✅ You are in “Secret Garden”.")).toHaveCount(1);
  expect(await api.balance(userId)).toBe(0);
});

for (const [scenario, title] of [
  ["cap", "That’s all for today"],
  ["no-ad", "No ad right now"],
  ["expired", "This link has expired"],
  ["delayed", "This is taking longer than usual"],
] as const) {
  const tag = scenario === "no-ad" ? [] : "@long";
  test(`with ?scenario=${scenario} the mini-app shows that state, and nothing is paid`, { tag }, async ({
    api,
    page,
    stack,
    userId,
  }) => {
    const faults: string[] = [];
    page.on("pageerror", ({ message }) => faults.push(message));
    await page.goto(`${stack.urls.demoBot}/?user=${userId}&scenario=${scenario}`);
    await page.getByRole("button", { name: "Earn coins" }).click();
    const miniapp = await openMiniapp(page);
    await expect(miniapp.getByRole("heading", { name: title })).toBeVisible();
    expect(faults).toEqual([]);
    await expectNeverPaid(api, userId);
  });
}

test("removing the frame after the end acts as a swipe and still pays", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  await askForAd(page, stack.urls.demoBot, userId);
  const miniapp = await openMiniapp(page);
  await miniapp.getByRole("button", { name: "Watch" }).click();
  await miniapp.getByRole("heading", { name: "You can close now" }).waitFor({ timeout: 20_000 });
  await page.evaluate(() => document.querySelector("iframe")?.remove());
  await expect(page.getByText("+10 coins for watching")).toBeVisible({ timeout: 30_000 });
  await expectPaidOnce(api, userId, "rewarded");
});

test("closing the mini-app in the middle pays nothing", { tag: "@long" }, async ({ api, page, stack, userId }) => {
  await stopAtStart(page);
  await askForAd(page, stack.urls.demoBot, userId);
  const miniapp = await openMiniapp(page);
  await miniapp.getByRole("button", { name: "Watch" }).click();
  await page.getByRole("button", { name: "Close the mini-app" }).click();
  await page.getByRole("button", { name: "Close anyway" }).click();
  await expect(page.locator("iframe")).toHaveCount(0);
  await expectNeverPaid(api, userId);
});

test("the direct link of the chat pays, and the bot announces it", async ({ api, context, page, stack, userId }) => {
  await askForAd(page, stack.urls.demoBot, userId);
  const opening = context.waitForEvent("page");
  await page.getByRole("link", { name: "No mini-apps? Use this link" }).click();
  const landing = await opening;
  await arriveAtLanding(landing, `${stack.urls.demoBot}/landing`);
  await expect(landing.getByRole("heading", { name: "An advertiser’s page" })).toBeVisible();
  await expect(page.getByText("+3 coins for following the link")).toBeVisible({ timeout: 30_000 });
  await expectPaidOnce(api, userId, "direct_link");
});
