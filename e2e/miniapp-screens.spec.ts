import type { Locator } from "@playwright/test";
import { closeAndGet, launchUrl, openWithNewCode, stopAtStart, watchToTheEnd } from "./open-miniapp.ts";
import { initDataOf } from "./scripted-viewer.ts";
import { expect, expectPaidOnce, newCode, test } from "./stack.ts";

test("after an error the app shows a support code, can be retried, loses no reward and logs no user data", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const logged: string[] = [];
  page.on("console", (message) => logged.push(message.text()));
  await page.addInitScript(() => {
    HTMLDialogElement.prototype.showModal = () => {
      throw new Error(`a fault beside ${location.hash}`);
    };
  });
  const { miniappUrl } = await newCode(api, userId);
  await stopAtStart(page);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await page.getByRole("button", { name: "Watch" }).click();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Something went wrong" })).toBeVisible();
  await expect(page.getByText(/^Support code: index-[\w-]{8}-\d+-\d+$/)).toBeVisible();
  expect(logged.join("\n")).toMatch(/crashed at index-/);
  expect(logged.join("\n")).not.toContain("tgWebAppData");
  await page.getByRole("button", { name: "Try again" }).click();
  await watchToTheEnd(page);
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("each file of the app is compressed and cacheable for ever", async ({ api, page, stack, userId }) => {
  const files = new Map<string, Record<string, string>>();
  // Not `allHeaders()`, which waits for the response's end: one may still load when the test ends.
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.startsWith("/app/assets/")) files.set(pathname, response.headers());
  });
  await openWithNewCode({ api, page, stack, userId });
  await page.getByRole("button", { name: "Watch" }).waitFor();
  await expect.poll(() => files.size).toBeGreaterThan(2);
  for (const [name, headers] of files) {
    expect(headers, name).toMatchObject({
      "content-encoding": "br",
      "cache-control": "public, max-age=31536000, immutable",
      vary: expect.stringMatching(/accept-encoding/i),
    });
  }
});

declare global {
  interface Window {
    /** Names of the screens on which nothing had the focus any more. */
    lostFocus: (string | undefined)[];
  }
}

test("the keyboard alone leads to the reward, and something always has the focus", async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.addInitScript(() => {
    // The two-second video would end before the next key on a busy machine: it stops at once three times, as if the browser
    // did not allow it to play. The fourth time the page itself presses the button with the focus, once it pauses.
    let starts = 0;
    const press = () => {
      const target = document.activeElement;
      if (target instanceof HTMLElement && target.getAttribute("aria-label") === "Pause") target.click();
      else setTimeout(press);
    };
    const onPlaying = ({ target }: Event) => {
      starts++;
      if (starts <= 3 && target instanceof HTMLVideoElement) target.pause();
      if (starts === 4) press();
    };
    addEventListener("playing", onPlaying, { capture: true });
    window.lostFocus = [];
    let hadFocus = false;
    let wasLost = false;
    setInterval(() => {
      const isLost = document.activeElement === null || document.activeElement === document.body;
      hadFocus ||= !isLost;
      // A new screen may need a moment to give the focus.
      if (hadFocus && isLost && wasLost) window.lostFocus.push(document.documentElement.dataset.state);
      wasLost = isLost;
    }, 250);
  });
  await openWithNewCode({ api, page, stack, userId });
  const buttonOf = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const tabTo = async (control: Locator) => {
    await control.waitFor();
    const isFocused = () => control.evaluate((element) => element.matches(":focus"));
    for (let tab = 0; tab < 9 && !(await isFocused()); tab++) await page.keyboard.press("Tab");
    await expect(control).toBeFocused();
  };
  const pressOn = async (name: string | RegExp) => {
    await tabTo(buttonOf(name));
    await page.keyboard.press("Enter");
  };
  await tabTo(page.getByRole("switch", { name: "Sound" }));
  await pressOn("Watch");
  await expect(page.getByRole("heading", { name: "Ad from Intermission" })).toBeFocused();
  for (const key of ["Escape", "Enter"]) {
    await buttonOf("Tap to play").waitFor();
    await pressOn("Close");
    await expect(buttonOf("Resume")).toBeFocused();
    await page.keyboard.press(key);
    await expect(buttonOf("Close")).toBeFocused();
  }
  // The button over the picture disappears with its press: the one that pauses has the focus then, and stays to play.
  await pressOn("Tap to play");
  await expect(buttonOf("Play")).toBeFocused();
  await expect(page.locator("video")).toHaveJSProperty("paused", true);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "You can close now" })).toBeFocused({ timeout: 30_000 });
  await pressOn(/^Reward earned/);
  await buttonOf("Watch another ad").waitFor();
  await page.keyboard.press("Tab");
  await expect(buttonOf("Watch another ad")).toBeFocused();
  expect(await page.evaluate(() => window.lostFocus)).toEqual([]);
  await pressOn("Close");
  await expectPaidOnce(api, userId, "rewarded");
});

test("space pauses and plays, M unmutes, and the view is rewarded", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.addInitScript(() => {
    // The page itself presses the key when playback starts: on a busy machine the two-second video could end before. The
    // controls listen to keys from when their heading has the focus.
    const press = () => {
      const target = document.activeElement;
      if (!target?.matches(".controls h1")) setTimeout(press);
      else target.dispatchEvent(new KeyboardEvent("keydown", { code: "Space", bubbles: true }));
    };
    addEventListener("playing", press, { capture: true, once: true });
  });
  await openWithNewCode({ api, page, stack, userId });
  await page.getByRole("button", { name: "Watch" }).click();
  await page.getByRole("button", { name: "Play" }).waitFor();
  await expect(page.locator("video")).toHaveJSProperty("paused", true);
  await page.keyboard.press("m");
  await expect(page.locator("video")).toHaveJSProperty("muted", false);
  await page.keyboard.press("Space");
  await page.getByRole("heading", { name: "You can close now" }).waitFor({ timeout: 30_000 });
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("a web view that cannot play the ad's video format shows an explanation", async ({ api, page, stack, userId }) => {
  await page.addInitScript(() => {
    HTMLMediaElement.prototype.canPlayType = () => "";
  });
  await openWithNewCode({ api, page, stack, userId });
  await expect(page.getByRole("heading", { name: "Time to update" })).toBeVisible();
  // Opening again explains the same; the ad is not marked as broken.
  await page.reload();
  await expect(page.getByRole("heading", { name: /^(Time to update|No ad right now)$/ })).toHaveText("Time to update");
});

test("an ad that another device began in a format that this one cannot play is replaced without a tap", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const { miniappUrl } = await newCode(api, userId);
  const url = launchUrl(miniappUrl, userId, stack.secrets);
  await page.goto(url);
  await page.getByRole("button", { name: "Watch" }).waitFor();
  await page.addInitScript(() => {
    HTMLMediaElement.prototype.canPlayType = (type) => (type === "video/webm" ? "maybe" : "");
  });
  await page.reload();
  await expect(page.getByRole("heading", { name: "No ad right now" })).toBeVisible();
});

test("a refused opening shows the request id of the service's log", async ({ page, stack, userId }) => {
  const url = `${stack.urls.adService}/app/${stack.secrets.botId}?code=ABCDEFGHJKLMNPQRST`;
  const opening = page.waitForResponse((response) => response.url().endsWith("/player/v1/sessions"));
  await page.goto(launchUrl(url, userId, stack.secrets));
  const requestId = (await opening).headers()["x-request-id"] ?? "";
  await expect(page.getByText(`Support code: ${requestId.slice(0, 8)}`)).toBeVisible();
});

test("only the user's language is loaded, and it sets the page's direction", async ({ api, page, stack, userId }) => {
  const files: string[] = [];
  page.on("request", (request) => files.push(new URL(request.url()).pathname.replace("/app/assets/", "")));
  const { miniappUrl } = await newCode(api, userId);
  const initData = initDataOf(userId, stack.secrets, new Date(), "ar");
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets, { initData }));
  await expect(page.getByRole("button", { name: "شاهد" })).toBeVisible();
  await expect(page.locator("html")).toHaveAttribute("dir", "rtl");
  expect(files.filter((file) => /^[a-z]{2}-/.test(file)).map((file) => file.slice(0, 2))).toEqual(["ar"]);
});
