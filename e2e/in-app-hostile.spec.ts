import type { Page } from "@playwright/test";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { adIn, type PageWithAds, result, show, startAd, test, watchIn } from "./in-app-game.ts";
import { closeAndGet, stopAtStart } from "./open-miniapp.ts";
import { expect, expectNothingPaid, expectPaidOnce } from "./stack.ts";

/** What a page's own styles can do to the frame. */
const addStyle = (page: Page, content: string) => page.addStyleTag({ content });

/** Of each played range that is reported from now on: whether something covers the frame. */
function coversReported(page: Page): readonly unknown[] {
  const covers: unknown[] = [];
  page.on("request", (request) => {
    if (!request.url().endsWith("/reports")) return;
    for (const report of request.postDataJSON().reports) covers.push(report.frame?.covered);
  });
  return covers;
}

const showAndWatch = async (page: Page) => {
  await show(page);
  await watchIn(adIn(page));
};

test("an ad in a frame of one pixel waits and earns nothing, the console says why, and it goes on once it can be seen", async ({
  api,
  page,
  userId,
  game,
}) => {
  await game.open(page, userId, { policy: "none" });
  const style = await addStyle(page, "iframe { width: 1px !important; height: 1px !important }");
  const said = page.waitForEvent("console", (message) => message.text().includes("the ad waits"));
  await show(page);
  await adIn(page)
    .getByRole("button", { name: /^Watch/ })
    .evaluate((button: HTMLElement) => button.click());
  expect((await said).text()).toContain("1 × 1 pixels");
  await expectNothingPaid(api, userId);
  await style.evaluate((element) => (element as HTMLElement).remove());
  // What was played before the frame was found to be out of view does not count: on a slow machine it is watched again.
  const ended = adIn(page).getByRole("heading", { name: "You can close now" });
  const more = adIn(page).getByRole("button", { name: "Continue watching" });
  await expect(async () => {
    if (await more.isVisible()) await more.click({ timeout: 1000 });
    await expect(ended).toBeVisible({ timeout: 6000 });
  }).toPass();
  await closeAndGet(adIn(page));
  await expectPaidOnce(api, userId, "rewarded");
});

/** The ad service marks a view of which more than half was covered, and more than three seconds: frame-in-view.test.ts. */
test.describe("what the page does to the frame is reported", () => {
  const tricks: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
    "a frame that is transparent": (page) => addStyle(page, "dialog { opacity: 0.01 !important }"),
    "a frame that is drawn somewhere else": (page) =>
      addStyle(page, "dialog { filter: blur(40px) !important; transform: rotate(0.1deg) !important }"),
    "a frame under something else in the top layer": (page) =>
      page.evaluate(() => {
        const cover = document.createElement("div");
        cover.popover = "manual";
        cover.style.cssText = "width: 100vw; height: 60vh; pointer-events: none; background: green";
        document.body.append(cover);
        // After the ad, which lies on top otherwise.
        new MutationObserver(() => cover.matches(":popover-open") || cover.showPopover()).observe(document.body, {
          attributes: true,
          subtree: true,
        });
      }),
  };
  for (const [name, trick] of Object.entries(tricks))
    test(name, { tag: name.endsWith("transparent") ? [] : "@long" }, async ({ api, page, userId, game }) => {
      await game.open(page, userId, { policy: "none" });
      await trick(page);
      const covers = coversReported(page);
      await showAndWatch(page);
      await expectPaidOnce(api, userId, "rewarded");
      expect(new Set(covers)).toEqual(new Set([true]));
    });

  test("an honest page is not", { tag: "@long" }, async ({ api, page, userId, game }) => {
    await game.open(page, userId);
    const covers = coversReported(page);
    await showAndWatch(page);
    await expectPaidOnce(api, userId, "rewarded");
    expect(new Set(covers)).toEqual(new Set([false]));
  });
});

test("a page that removes or moves the frame in the middle gets its result at once, and the next ad is a whole one", {
  tag: "@long",
}, async ({ api, page, userId, game }) => {
  await stopAtStart(page);
  await game.open(page, userId);
  const endings = {
    dialog: () => document.querySelector("dialog")?.remove(),
    frame: () => document.querySelector("iframe")?.remove(),
    everything: () => document.body.replaceChildren(),
    // Which loads the frame anew.
    move: () => document.body.prepend(document.querySelector("dialog") ?? ""),
  };
  for (const end of Object.values(endings)) {
    await page.evaluate(() => document.body.append(document.createElement("hr")));
    await show(page);
    await startAd(adIn(page));
    await adIn(page).locator(".controls").waitFor();
    await page.evaluate(end);
    expect(await result(page)).toMatchObject({ outcome: "closed-early" });
    await expect(page.locator("dialog")).toHaveCount(0);
  }
  await expectNothingPaid(api, userId);
  await showAndWatch(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("a page that renders itself anew after preload() shows an ad all the same", { tag: "@long" }, async ({
  api,
  page,
  userId,
  game,
}) => {
  await game.open(page, userId);
  for (const rendered of [
    () => document.body.replaceChildren(),
    () => document.body.prepend(document.querySelector("dialog") ?? ""),
  ]) {
    await page.evaluate(() => (window as unknown as PageWithAds).ads.preload());
    await page.evaluate(rendered);
  }
  await showAndWatch(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("ads of one page are shown one at a time, also by another init() or a second script", async ({
  page,
  stack,
  userId,
  game,
}) => {
  await game.open(page, userId, { policy: "none" });
  await show(page);
  await adIn(page)
    .getByRole("button", { name: /^Watch/ })
    .waitFor();
  const { botId } = stack.secrets;
  const showOther = () =>
    page.evaluate((id) => {
      const its = window as unknown as { Intermission: { init(options: { botId: string }): PageWithAds["ads"] } };
      return its.Intermission.init({ botId: id }).show();
    }, botId);
  await expect(showOther()).rejects.toThrow("await its result first");
  await page.addScriptTag({ url: `${stack.urls.adService}/sdk/v1.js` });
  await expect(showOther()).rejects.toThrow("await its result first");
  await expect(page.locator("dialog")).toHaveCount(1);
});

/** A frame by hand, with a grant of its own: what a page could do without the script. */
async function openFrame(page: Page, { urls, secrets }: DemoStack, top: string): Promise<void> {
  const initData = new URLSearchParams(page.url().split("#")[1]).get("tgWebAppData") ?? "";
  await page.evaluate(
    async ({ adService, botId, initData, top }) => {
      const body = JSON.stringify({ bot_id: botId, init_data: initData });
      const response = await fetch(`${adService}/player/v1/app-grants`, { method: "POST", body });
      const { app_grant: appGrant } = await response.json();
      const frame = document.createElement("iframe");
      frame.src = `${adService}/embed/${botId}`;
      frame.allow = "autoplay";
      frame.style.cssText = `position:fixed;left:0;top:${top};width:100vw;height:51vh;border:0`;
      document.body.append(frame);
      await new Promise((resolve) => addEventListener("message", resolve, { once: true }));
      const { port1, port2 } = new MessageChannel();
      frame.contentWindow?.postMessage("intermission-frame-port", "*", [port2]);
      // What no script of ours would say comes first.
      for (const data of [null, 7, "show", {}, { kind: "done" }, { kind: "event", name: "visibility_changed" }])
        port1.postMessage(data);
      port1.postMessage({ kind: "window", width: innerWidth, height: innerHeight });
      // Twice, and through a second port: the frame has one port, and shows one ad.
      const second = new MessageChannel();
      frame.contentWindow?.postMessage("intermission-frame-port", "*", [second.port2]);
      const shown = { kind: "show", appGrant, initData, theme: {}, client: "none" };
      for (const port of [port1, port1, second.port1]) port.postMessage(shown);
      // Another video does not replace the ad's.
      port1.postMessage({ kind: "preload", media: { url: `${adService}/media/none.mp4` } });
    },
    { adService: urls.adService, botId: secrets.botId, initData, top },
  );
}

test("two frames at once pay one reward", async ({ api, page, stack, userId, game }) => {
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  let openings = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/player/v1/sessions")) openings++;
  });
  await game.open(page, userId, { policy: "none" });
  const [first, second] = [0, 1].map((at) => page.frameLocator("iframe").nth(at) as unknown as Page);
  if (!first || !second) throw new Error("two frames were made");
  await openFrame(page, stack, "0");
  await first.getByRole("button", { name: /^Watch/ }).waitFor();
  expect(openings).toBe(1);
  await openFrame(page, stack, "49vh");
  await second.getByRole("button", { name: /^(Watch|Continue watching)/ }).waitFor();
  await startAd(first);
  await expect(first.getByRole("heading", { name: "Playing somewhere else" })).toBeVisible();
  await watchIn(second);
  await expectPaidOnce(api, userId, "rewarded");
  expect(faults).toEqual([]);
});

test("where the browser keeps storage from frames, an ad is watched and paid", { tag: "@long" }, async ({
  api,
  page,
  userId,
  game,
}) => {
  await page.addInitScript(() => {
    const refuse = () => {
      throw new DOMException("The operation is insecure.", "SecurityError");
    };
    for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"])
      Object.defineProperty(window, name, { get: refuse });
    Object.defineProperty(document, "cookie", { get: refuse, set: refuse });
  });
  await game.open(page, userId);
  await showAndWatch(page);
  await expectPaidOnce(api, userId, "rewarded");
});

test("in Telegram Web, where the game is a frame itself, an ad is watched, and the client does what the game's frame may ask", async ({
  api,
  page,
  stack,
  userId,
  game,
}) => {
  const client = "https://web.telegram.org";
  const { botId } = stack.secrets;
  await stack.ads(["bots", "update", botId, "--app-origin", game.origin, "--app-origin", client]);
  await openInTelegramWeb(page, client, game.address(userId));
  const inner = page.frames().find((frame) => frame.url().startsWith(game.origin));
  if (!inner) throw new Error("the client shows no game");
  await show(inner);
  const ad = page.frameLocator("iframe").frameLocator("iframe") as unknown as Page;
  await watchIn(ad);
  await expectPaidOnce(api, userId, "rewarded");
  const posted = await page.evaluate(() => (window as unknown as { posted: string[] }).posted);
  expect(posted).toContain("web_app_setup_closing_behavior");
  expect(posted).not.toContain("iframe_ready");
});

/** The client's page around the game; it is told what the game's page posts, and nothing of the frame in it. */
async function openInTelegramWeb(page: Page, client: string, address: string): Promise<void> {
  const html = `<!doctype html><meta name="viewport" content="width=device-width"><body style="margin:0">
<script>window.posted = []; addEventListener("message", ({ data }) => posted.push(JSON.parse(data).eventType));</script>
<iframe src="${address.replaceAll("&", "&amp;")}" allow="autoplay" style="border:0;width:100vw;height:100vh;display:block"></iframe>`;
  await page.route(`${client}/`, (route) => route.fulfill({ contentType: "text/html", body: html }));
  // Needed only in tests, where a public page frames an app on this machine.
  await page.context().grantPermissions(["local-network-access"], { origin: client });
  await page.goto(`${client}/`);
}

test.describe("a page whose content security policy lacks a line is told which", () => {
  for (const [policy, directive, expected] of [
    ["without-frame-src", "frame-src", { outcome: "unavailable", reason: "frame-blocked" }],
    ["without-connect-src", "connect-src", { outcome: "unavailable", reason: "unreachable" }],
  ] as const)
    test(directive, async ({ page, stack, userId, game }) => {
      await game.open(page, userId, { policy });
      const said = page.waitForEvent("console", (message) => message.text().startsWith("Intermission:"));
      await show(page);
      expect(await result(page)).toEqual(expected);
      expect((await said).text()).toContain(`must allow ${stack.urls.adService} in ${directive}`);
      await expect(page.locator("dialog")).toHaveCount(0);
    });
});
