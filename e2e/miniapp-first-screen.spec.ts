import type { Page } from "@playwright/test";
import { closeAndGet, launchUrl, watchToTheEnd } from "./open-miniapp.ts";
import { expect, expectPaidOnce, newCode, test } from "./stack.ts";
import { openInTelegram } from "./telegram-client.ts";

test("the picture is shown before the app's files arrive, and the app adopts it without moving it", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const arrived = Promise.withResolvers<void>();
  await page.route("**/app/assets/*.js", async (route) => {
    await arrived.promise;
    await route.continue();
  });
  const sessions: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith("/player/v1/sessions")) sessions.push(request.url());
  });
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets), { waitUntil: "commit" });
  const video = page.locator("video");
  await expect(video).toBeVisible();
  await expect(video).toHaveJSProperty("readyState", 4);
  await video.evaluate((element) => {
    element.dataset.early = "yes";
  });
  const place = await video.boundingBox();

  arrived.resolve();
  await expect(page.getByRole("button", { name: "Watch" })).toBeVisible();
  await expect(video).toHaveAttribute("data-early", "yes");
  expect(await video.boundingBox()).toEqual(place);
  expect(sessions).toHaveLength(1);
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

for (const platform of ["android", "weba"] as const) {
  test(`Telegram on ${platform} removes its placeholder and expands before the app's files arrive`, async ({
    api,
    context,
    stack,
    userId,
  }) => {
    const arrived = Promise.withResolvers<void>();
    await context.route("**/app/assets/*.js", async (route) => {
      await arrived.promise;
      await route.continue();
    });
    const { miniappUrl } = await newCode(api, userId);
    const client = { version: "9.6", platform, manner: "prompt" } as const;
    const opened = openInTelegram(context, launchUrl(miniappUrl, userId, stack.secrets), client);
    // A page that is just being opened has no answer yet.
    const postedBy = (page: Page) => page.evaluate(() => window.telegramPosted ?? []).catch(() => []);
    const posted = async () => (await Promise.all(context.pages().map(postedBy))).flat();
    await expect.poll(posted).toEqual(["web_app_ready", "web_app_expand"]);
    arrived.resolve();
    const app = await opened;
    await expect(app.frame.getByRole("button", { name: "Watch" })).toBeVisible();
    await expect.poll(() => app.posted()).toContain("web_app_request_safe_area");
    expect(app.faults).toEqual([]);
  });
}
