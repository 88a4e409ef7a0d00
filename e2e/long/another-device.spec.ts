import { join } from "node:path";
import { devices } from "@playwright/test";
import { root } from "../../scripts/processes.ts";
import { closeAndGet, launchUrl, watchToTheEnd } from "../open-miniapp.ts";
import { expect, expectPaidOnce, newCode, test } from "../stack.ts";

test.use({ adVideo: join(root, "apps/ad-service/sample/house-ad.mp4") });

test("a view started on one device is finished on another, and both show the reward's status", async ({
  api,
  browser,
  page,
  stack,
  userId,
}) => {
  const { miniappUrl } = await newCode(api, userId);
  const url = launchUrl(miniappUrl, userId, stack.secrets);
  await page.goto(url);
  const counted = page.waitForResponse(
    async (response) => response.url().endsWith("/reports") && (await response.json()).accepted_ms >= 2000,
  );
  await page.getByRole("button", { name: "Watch" }).click();
  await counted;

  const phone = await browser.newContext({ ...devices["Pixel 7"], locale: "en-US" });
  const other = await phone.newPage();
  const opening = other.waitForResponse((response) => response.url().endsWith("/player/v1/sessions"));
  await other.goto(url);
  expect((await (await opening).json()).resume_at_ms).toBeGreaterThanOrEqual(2000);
  await expect(page.getByRole("heading", { name: "Playing somewhere else" })).toBeVisible();
  await watchToTheEnd(other);
  await closeAndGet(other);
  const credited = { name: "Reward credited" };
  await expect(other.getByRole("heading", credited)).toBeVisible();

  await page.getByRole("button", { name: "Continue here" }).click();
  await expect(page.getByRole("heading", credited)).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
  await phone.close();
});
