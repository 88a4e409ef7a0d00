import { directionOf } from "@intermission/ad-core/page-language";
import type { Page } from "@playwright/test";
import { type LanguageTag, languages, loadDictionary } from "../apps/miniapp/src/locales/languages.ts";
import { launchUrl, openWithNewCode } from "./open-miniapp.ts";
import { initDataOf } from "./scripted-viewer.ts";
import { expect, newCode, test } from "./stack.ts";

const script = /\/app\/assets\/index-[^/]*\.js$/;
const failure = (page: Page) => page.getByRole("heading", { name: "Something went wrong" });
const stateOf = (page: Page) => page.locator("html").getAttribute("data-state");

test.beforeEach(async ({ page }) => {
  await page.clock.install();
});

test("an app whose script does not arrive says so at once, and can be tried again", async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.route(script, (route) => route.abort());
  await openWithNewCode({ api, page, stack, userId });
  await expect(failure(page)).toBeFocused();
  await expect(page.locator(".spinner")).toBeHidden();
  await page.unroute(script);
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("button", { name: "Watch" })).toBeVisible();
});

const bodies = {
  "syntax that the browser does not know": "const early = ?#;",
  "a function that the browser lacks": "Object.ofTheFuture();",
  "a failure after its first lines": "(async () => { await null; Object.ofTheFuture(); })();",
  "an import that does not arrive": 'import "./missing.js";',
};
test(`an app with ${Object.keys(bodies).join(", or ")} says so at once`, async ({ page, stack, userId }) => {
  let body = "";
  await page.route(script, (route) => route.fulfill({ contentType: "text/javascript", body }));
  const url = launchUrl(`${stack.urls.adService}/app/${stack.secrets.botId}`, userId, stack.secrets);
  for (const fault of Object.keys(bodies) as (keyof typeof bodies)[]) {
    body = bodies[fault];
    // The hash alone would not open the page again.
    await page.goto("about:blank");
    await page.goto(url);
    await expect(failure(page), fault).toBeFocused();
  }
});

test("an app that has not started after 12 s says so, and wins when it arrives late", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const arrived = Promise.withResolvers<void>();
  await page.route(script, async (route) => {
    await arrived.promise;
    await route.continue();
  });
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets), { waitUntil: "commit" });
  await page.locator("video").waitFor();
  // The clock of the page goes on meanwhile, for seconds on a busy machine.
  await page.clock.fastForward(4000);
  await expect(failure(page)).toBeHidden();
  await page.clock.fastForward(8000);
  await expect(failure(page)).toBeVisible();
  arrived.resolve();
  await expect(page.getByRole("button", { name: "Watch" })).toBeVisible();
  await expect(failure(page)).toBeHidden();
  // The picture that was loaded meanwhile is adopted.
  await expect(page.locator("video")).toHaveJSProperty("readyState", 4);
  expect(await stateOf(page)).toBe("offer");
});

test("an app that waits for its session keeps its own screen", async ({ page, stack, userId }) => {
  await page.route("**/player/v1/sessions", () => {});
  await page.goto(launchUrl(`${stack.urls.adService}/app/${stack.secrets.botId}`, userId, stack.secrets));
  await page.getByRole("heading", { name: "Getting your ad ready…" }).waitFor();
  await page.clock.fastForward(13_000);
  await expect(failure(page)).toBeHidden();
  await expect(page.getByRole("main")).toBeVisible();
});

test("a stalled language file does not keep the app from starting", { tag: "@long" }, async ({
  page,
  stack,
  userId,
}) => {
  await page.route(/\/app\/assets\/ru-[^/]*\.js$/, () => {});
  const initData = initDataOf(userId, stack.secrets, new Date(), "ru");
  const dictionaryRequest = page.waitForRequest(/\/ru-[^/]*\.js$/);
  const url = `${stack.urls.adService}/app/${stack.secrets.botId}`;
  await page.goto(launchUrl(url, userId, stack.secrets, { initData }), { waitUntil: "commit" });
  await dictionaryRequest;
  await page.clock.fastForward(9000);
  await expect(page.getByRole("button", { name: "Watch" })).toBeVisible();
});

test("errors of other scripts are not taken for the app's", async ({ page, stack, userId }) => {
  await page.route(script, () => {});
  await page.addInitScript(() => {
    document.addEventListener("readystatechange", () => {
      dispatchEvent(new ErrorEvent("error", { filename: "chrome-extension://x/content.js", message: "theirs" }));
      Promise.reject(new Error("theirs"));
      document.body.append(Object.assign(new Image(), { src: "/nothing.png" }));
    });
  });
  const url = launchUrl(`${stack.urls.adService}/app/${stack.secrets.botId}`, userId, stack.secrets);
  const failed = page.waitForResponse("**/nothing.png");
  await page.goto(url, { waitUntil: "commit" });
  await failed;
  await expect(page.locator(".spinner")).toBeVisible();
  await expect(failure(page)).toBeHidden();
});

test("a browser without modules is told so at once", async ({ page, stack, userId }) => {
  await page.route(script, () => {});
  await page.addInitScript(() => Reflect.deleteProperty(HTMLScriptElement.prototype, "noModule"));
  const url = launchUrl(`${stack.urls.adService}/app/${stack.secrets.botId}`, userId, stack.secrets);
  await page.goto(url, { waitUntil: "commit" });
  await expect(failure(page)).toBeFocused();
});

/** Opens the page under another policy for its scripts. */
async function openUnder(page: Page, url: string, allow: (own: string) => string): Promise<void> {
  await page.route("**/app/*", async (route) => {
    const response = await route.fetch();
    const policy = response.headers()["content-security-policy"] ?? "";
    const changed = policy.replace(/script-src ([^;]*)/, (_, own: string) => `script-src ${allow(own)}`);
    const headers = { ...response.headers(), "content-security-policy": changed };
    await route.fulfill({ response, headers });
  });
  // Otherwise only the hash would change, if anything.
  await page.goto("about:blank");
  await page.goto(url, { waitUntil: "commit" });
}

test("a policy that blocks the app's script, its inline scripts, or all of them leaves no endless spinner", async ({
  page,
  stack,
  userId,
}) => {
  const url = launchUrl(`${stack.urls.adService}/app/${stack.secrets.botId}`, userId, stack.secrets);
  await openUnder(page, url, (own) => own.replace("'self'", ""));
  await expect(failure(page)).toBeFocused();

  await page.unroute("**/app/*");
  await openUnder(page, url, () => "'self'");
  await expect(page.getByRole("button", { name: "Watch" })).toBeVisible();

  await page.unroute("**/app/*");
  await openUnder(page, url, () => "'none'");
  const note = page.getByText("This did not start.");
  await expect(note).toBeHidden();
  await note.evaluate((element) => element.getAnimations().map((animation) => animation.finish()));
  await expect(note).toBeVisible();
});

const tags = Object.keys(languages) as LanguageTag[];
const quickTags: LanguageTag[] = ["ar", "de"];
for (const { shown, length } of [
  { shown: quickTags, length: [] },
  { shown: tags.filter((each) => !quickTags.includes(each)), length: "@long" },
]) {
  const name = `it is said in the user's language, with the bot's link and in a Telegram client: ${shown.join(", ")}`;
  test(name, { tag: length }, async ({ api, page, stack, userId }) => {
    await page.route(script, (route) => route.abort());
    await page.addInitScript(() => {
      const posted: string[] = [];
      Object.assign(window, { telegramPosted: posted });
      Object.assign(window, {
        TelegramWebviewProxy: { postEvent: (...words: string[]) => posted.push(words.join(" ")) },
      });
    });
    const { miniappUrl } = await newCode(api, userId);
    for (const tag of shown) {
      const words = await loadDictionary(tag);
      const initData = initDataOf(userId, stack.secrets, new Date(), tag);
      // The hash alone would not open the page again.
      await page.goto("about:blank");
      await page.goto(launchUrl(miniappUrl, userId, stack.secrets, { initData }));
      const main = page.getByRole("main");
      await expect(main).toHaveAttribute("lang", tag);
      await expect(main).toHaveAttribute("dir", directionOf(tag));
      await expect(main.getByRole("heading")).toHaveText(String(words["not-understood.title"]));
      await expect(main).toContainText(String(words["not-started.text"]));
      await expect(main.getByRole("button")).toHaveText(String(words["action.tryAgain"]));
      const link = main.getByRole("link", { name: String(words["action.openBot"]) });
      await expect(link).toHaveAttribute("href", "https://t.me/coin_garden_bot");
      await link.click();
      const posted = await page.evaluate(() => window.telegramPosted);
      expect(posted).toContain('web_app_open_tg_link {"path_full":"/coin_garden_bot"}');
      expect(posted).toContain("web_app_ready {}");
    }
  });
}
