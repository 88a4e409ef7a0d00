import type { Page } from "@playwright/test";
import { closeAndGet, openWithNewCode, watchToTheEnd } from "./open-miniapp.ts";
import { sendsVideo, test } from "./sell-tag.ts";
import { expect, expectPaidOnce } from "./stack.ts";

const playable = await sendsVideo("clip-2s.mp4");
const clicks = `<VideoClicks><ClickThrough><![CDATA[tg://resolve?domain=quiz_bot&startapp=[CLICKID]]]></ClickThrough>
<ClickTracking><![CDATA[{self}/inline/click]]></ClickTracking></VideoClicks>`;

/** A client that records what the page asks it to open, and opens nothing. */
async function actAsClient(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const opened: string[] = [];
    const postEvent = (method: string, parameters: string) => {
      if (method === "web_app_open_tg_link") opened.push(JSON.parse(parameters).path_full);
    };
    Object.assign(window, { TelegramWebviewProxy: { postEvent }, telegramPosted: opened });
  });
}

test("an ad for a bot opens inside Telegram, its click is counted once, and the view pays", async ({
  api,
  context,
  page,
  sell,
  stack,
  userId,
}) => {
  const ads = await sell(playable, { clicks });
  const opened = () => page.evaluate(() => window.telegramPosted);
  await actAsClient(page);
  await openWithNewCode({ api, page, stack, userId });
  await watchToTheEnd(page);
  // The first call is lost on its way.
  await page.route("**/click?*", (route) => route.abort(), { times: 1 });
  await page.getByRole("link").click();
  const [first] = await opened();
  expect(first).toMatch(/^\/quiz_bot\?startapp=clk_/);
  await expect.poll(() => ads.callsOf("/inline/click")).toHaveLength(1);
  await page.getByRole("link").click();
  await expect.poll(opened).toEqual([first, first]);
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
  expect(ads.callsOf("/inline/click")).toHaveLength(1);
  expect(context.pages()).toEqual([page]);
});

test("without Telegram's client the link opens in a browser, as any other", { tag: "@long" }, async ({
  api,
  context,
  page,
  sell,
  stack,
  userId,
}) => {
  const ads = await sell(playable, { clicks });
  await openWithNewCode({ api, page, stack, userId });
  await watchToTheEnd(page);
  const redirect = context.waitForEvent("response", (response) => response.url().includes("/click?"));
  await page.getByRole("link").click();
  expect(await (await redirect).headerValue("location")).toMatch(/^https:\/\/t\.me\/quiz_bot\?startapp=clk_/);
  await expect.poll(() => ads.callsOf("/inline/click")).toHaveLength(1);
});
