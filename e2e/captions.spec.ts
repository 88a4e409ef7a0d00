import { join } from "node:path";
import { root } from "../scripts/processes.ts";
import { closeAndGet, launchUrl } from "./open-miniapp.ts";
import { expect, expectPaidOnce, newCode, test } from "./stack.ts";

const file = join(root, "e2e/fixtures/clip-2s.en.vtt");

test.beforeAll(async ({ stack }) => {
  const [{ creativeId }] = JSON.parse(await stack.ads(["creatives", "list", "--json"]));
  await stack.ads(["creatives", "captions", creativeId, `en=${file}`]);
});

test.beforeEach(async ({ page }) => {
  await page.addInitScript(() => {
    // Runs in the page, because on a busy machine the video could end before a call from the test arrives.
    const onTime = ({ target }: Event) => {
      if (!(target instanceof HTMLVideoElement) || target.currentTime < 0.3) return;
      removeEventListener("timeupdate", onTime, true);
      target.pause();
    };
    addEventListener("timeupdate", onTime, true);
  });
});

test("captions are shown while the ad is muted, can be switched off and on, and the view is paid", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await page.getByRole("button", { name: "Watch" }).click();
  const caption = page.getByText("Hello & welcome");
  const toggle = page.getByRole("button", { name: "Captions" });
  await expect(toggle).toHaveAttribute("aria-pressed", "true");
  await expect(caption).toBeVisible();
  await expect(caption.locator("..")).toHaveAttribute("lang", "en");
  await toggle.click();
  await expect(toggle).toHaveAttribute("aria-pressed", "false");
  await expect(caption).toHaveCount(0);
  await toggle.click();
  await expect(caption).toBeVisible();
  await expect(page.locator("video")).toHaveJSProperty("controls", false);
  await page.getByRole("button", { name: "Tap to play" }).click();
  await page.getByRole("heading", { name: "You can close now" }).waitFor({ timeout: 20_000 });
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("with the sound on, captions can be switched on", async ({ api, page, stack, userId }) => {
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await page.getByRole("button", { name: "Watch" }).click();
  const toggle = page.getByRole("button", { name: "Captions" });
  await expect(toggle).toHaveAttribute("aria-pressed", "true");
  await page.getByRole("button", { name: "Turn sound on" }).click();
  await expect(toggle).toHaveAttribute("aria-pressed", "false");
  await expect(page.getByText("Hello & welcome")).toHaveCount(0);
  await toggle.click();
  await expect(page.getByText("Hello & welcome")).toBeVisible();
});

test("an app on another origin than the videos shows captions, too", async ({ api, page, stack, userId }) => {
  const { miniappUrl } = await newCode(api, userId);
  const elsewhere = new URL(miniappUrl);
  elsewhere.hostname = "localhost";
  await page.goto(launchUrl(elsewhere.href, userId, stack.secrets));
  const asked = page.waitForRequest((request) => request.url().endsWith(".vtt"));
  await page.getByRole("button", { name: "Watch" }).click();
  expect(new URL((await asked).url()).origin).not.toBe(elsewhere.origin);
  await expect(page.getByText("Hello & welcome")).toBeVisible();
});
