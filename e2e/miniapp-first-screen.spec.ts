import type { Page } from "@playwright/test";
import { closeAndGet, launchUrl, openWithNewCode, watchToTheEnd } from "./open-miniapp.ts";
import { expect, expectPaidOnce, newCode, test } from "./stack.ts";
import { openInTelegram } from "./telegram-client.ts";

test("the video loads before its session is open, and is shown before the app's files arrive; the app adopts it as it is", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const loaded = Promise.withResolvers<void>();
  const shown = Promise.withResolvers<void>();
  const sessions: string[] = [];
  const files = new Set<string>();
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === "POST" && pathname.endsWith("/player/v1/sessions")) sessions.push(pathname);
    if (/^\/media\/.*\.mp4$/.test(pathname)) files.add(pathname);
  });
  // The session comes only when the video is there, and the app's files only when its picture is shown.
  await page.route(/\/player\/v1\/sessions$/, async (route) => {
    await loaded.promise;
    await route.continue();
  });
  await page.route("**/app/assets/*.js", async (route) => {
    await shown.promise;
    await route.continue();
  });
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets), { waitUntil: "commit" });
  const video = page.locator("video");
  await expect
    .poll(() => video.evaluate((element) => (element as HTMLVideoElement).readyState))
    .toBeGreaterThanOrEqual(2);
  await video.evaluate((element) => {
    element.dataset.early = "yes";
  });
  loaded.resolve();
  await expect(video).toBeVisible();
  await expect(video).toHaveJSProperty("readyState", 4);
  const place = await video.boundingBox();

  shown.resolve();
  await expect(page.getByRole("button", { name: "Watch" })).toBeVisible();
  await expect(video).toHaveAttribute("data-early", "yes");
  expect(await video.boundingBox()).toEqual(place);
  expect(sessions).toHaveLength(1);
  await watchToTheEnd(page);
  expect(files.size).toBe(1);
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("a video of the page that the session does not show is replaced", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.route("**/app/*?code=*", async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/ src="[^"]*\/media\/[^"]*"/, ' src="/media/none.mp4"');
    expect(body).toContain("/media/none.mp4");
    await route.fulfill({ response, body });
  });
  await openWithNewCode({ api, page, stack, userId });
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

for (const platform of ["android", "weba"] as const) {
  const tag = platform === "android" ? [] : "@long";
  test(`Telegram on ${platform} removes its placeholder and expands before the app's files arrive`, { tag }, async ({
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
