import { closeAndGet, launchUrl, watchToTheEnd } from "./open-miniapp.ts";
import { expect, expectPaidOnce, newCode, test } from "./stack.ts";
import { openInTelegram } from "./telegram-client.ts";

declare global {
  interface Window {
    /** The app's states so far. */
    states: (string | undefined)[];
  }
}

test("the choice of sound holds for the next ad and the next opening, and the offer shows it as a switch", {
  tag: "@long",
}, async ({ api, page, stack, userId }) => {
  await page.addInitScript(() => {
    // Runs in the page, because on a busy machine the video could end before a call from the test arrives.
    const onTime = ({ target }: Event) => {
      if (!(target instanceof HTMLVideoElement) || target.currentTime < 0.3) return;
      removeEventListener("timeupdate", onTime, true);
      target.pause();
    };
    addEventListener("timeupdate", onTime, true);
  });
  const url = async () => launchUrl((await newCode(api, userId)).miniappUrl, userId, stack.secrets);
  const video = page.locator("video");
  const sound = page.getByRole("switch", { name: "Sound" });
  await page.goto(await url());
  await expect(sound).not.toBeChecked();
  await page.getByRole("button", { name: "Watch" }).click();
  await expect(video).toHaveJSProperty("muted", true);
  await page.getByRole("button", { name: "Turn sound on" }).click();
  await page.getByRole("button", { name: "Tap to play" }).click();
  await page.getByRole("heading", { name: "You can close now" }).waitFor({ timeout: 20_000 });
  await closeAndGet(page);

  await page.getByRole("button", { name: "Watch another ad" }).click();
  await expect(sound).toBeChecked();
  await sound.click();
  await expect(sound).not.toBeChecked();
  await page.getByRole("button", { name: "Watch" }).click();
  await expect(video).toHaveJSProperty("paused", false);
  await expect(video).toHaveJSProperty("muted", true);

  await page.goto("about:blank");
  await page.goto(await url());
  await expect(sound).not.toBeChecked();
  await sound.click();
  await page.goto("about:blank");
  await page.goto(await url());
  await expect(sound).toBeChecked();
  await page.getByRole("button", { name: /^(Watch|Continue watching)$/ }).click();
  await expect(video).toHaveJSProperty("muted", false);
});

test("after the end card the status is shown at once, never the screen of an opening", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.addInitScript(() => {
    window.states = [];
    const root = document.documentElement;
    const observer = new MutationObserver(() => window.states.push(root.dataset.state));
    observer.observe(document, { subtree: true, attributeFilter: ["data-state"] });
  });
  const { miniappUrl } = await newCode(api, userId);
  const chunk = page.waitForResponse((response) => response.url().includes("/assets/reward-status-"));
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await watchToTheEnd(page);
  await chunk;
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  const states = await page.evaluate(() => window.states);
  expect(states.slice(states.indexOf("watched") + 1).filter((state) => !/^status-/.test(state ?? ""))).toEqual([]);
});

test("a web view that plays no MP4 gets no ad, and its user gets one at once in a web view that does", {
  tag: "@long",
}, async ({ api, context, page, stack, userId }) => {
  const { miniappUrl } = await newCode(api, userId);
  const url = launchUrl(miniappUrl, userId, stack.secrets);
  await page.addInitScript(() => {
    const { canPlayType } = HTMLMediaElement.prototype;
    HTMLMediaElement.prototype.canPlayType = function (type) {
      return type.includes("mp4") ? "" : canPlayType.call(this, type);
    };
  });
  await page.goto(url);
  await page.getByRole("heading", { name: "No ad right now" }).waitFor();
  const other = await context.newPage();
  await other.goto(url);
  await watchToTheEnd(other);
  await closeAndGet(other);
  await expectPaidOnce(api, userId, "rewarded");
});

test("the status screen is loaded before the start, also if the video could play before the app arrived", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const arrived = Promise.withResolvers<void>();
  await page.route("**/app/assets/index-*.js", async (route) => {
    await arrived.promise;
    await route.continue();
  });
  const { miniappUrl } = await newCode(api, userId);
  const chunk = page.waitForRequest((request) => request.url().includes("/assets/reward-status-"));
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets), { waitUntil: "commit" });
  await expect(page.locator("video")).toHaveJSProperty("readyState", 4);
  arrived.resolve();
  await chunk;
  await expect(page.getByRole("button", { name: "Watch" })).toBeVisible();
});

test("the client's bars and full screen follow the ad, and are restored after it", { tag: "@long" }, async ({
  api,
  context,
  stack,
  userId,
}) => {
  const { miniappUrl } = await newCode(api, userId);
  const client = { version: "9.6", platform: "android", manner: "prompt" } as const;
  const app = await openInTelegram(context, launchUrl(miniappUrl, userId, stack.secrets), client);
  const { frame } = app;
  const count = async (method: string) => (await app.posted()).filter((name) => name === method).length;
  await frame.getByRole("button", { name: "Watch" }).waitFor();
  expect(await count("web_app_set_header_color")).toBe(0);
  expect(await count("web_app_request_fullscreen")).toBe(0);
  await app.tap("Watch");
  await expect.poll(() => count("web_app_set_header_color")).toBe(1);
  expect(await count("web_app_set_background_color")).toBe(1);
  expect(await count("web_app_set_bottom_bar_color")).toBe(1);
  expect(await count("web_app_request_fullscreen")).toBe(1);
  expect(await count("web_app_exit_fullscreen")).toBe(0);
  await app.tap(/^Reward earned/);
  await expect.poll(() => count("web_app_exit_fullscreen")).toBe(1);
  expect(await count("web_app_set_header_color")).toBe(2);
  expect(await count("web_app_set_bottom_bar_color")).toBe(2);
  await expectPaidOnce(api, userId, "rewarded");
});
