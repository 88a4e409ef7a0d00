import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Page } from "@playwright/test";
import { root, runCommand } from "../scripts/processes.ts";
import { adIn, watchIn } from "./in-app-game.ts";
import { initDataOf } from "./scripted-viewer.ts";
import { test as base, expect, expectNeverPaid, expectPaidOnce } from "./stack.ts";

const pages = join(root, "e2e/in-app-pages");
const mediaTypes: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript" };

// One worker builds the pages, for all of these tests. A worker fixture would cost each worker a further stack.
base.describe.configure({ mode: "default" });
let builtPages: string;
base.beforeAll(async () => {
  builtPages = mkdtempSync(join(tmpdir(), "intermission-pages-"));
  await runCommand(join(pages, "node_modules/.bin/vite"), ["build", pages, "--outDir", builtPages, "--emptyOutDir"]);
});
base.afterAll(() => rmSync(builtPages, { recursive: true }));

/** The pages that the documentation shows, as Vite builds them, with the addresses of this stack in place of its examples. */
const test = base.extend<{ open: (page: Page, name: string, userId: string) => Promise<void> }>({
  open: async ({ stack }, use) => {
    const { urls, secrets } = stack;
    const server = createServer((request, response) => {
      const file = join(builtPages, new URL(request.url ?? "", "http://localhost").pathname);
      const type = mediaTypes[extname(file)];
      if (type === undefined) return response.writeHead(204).end();
      const text = readFileSync(file, "utf8")
        .replaceAll("https://rewards.example.com", urls.adService)
        .replaceAll("7000000001", secrets.botId);
      return response.setHeader("content-type", type).end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
    const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
    await stack.ads(["bots", "update", secrets.botId, "--app-origin", origin]);
    await use(async (page, name, userId) => {
      const launch = new URLSearchParams({ tgWebAppData: initDataOf(userId, secrets), tgWebAppVersion: "9.1" });
      await page.goto(`${origin}/${name}.html#${launch}`);
    });
    server.close();
    server.closeAllConnections();
    await stack.ads(["bots", "update", secrets.botId, "--app-origin", "none"]);
  },
});

async function tapAndWatch(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Watch an ad" }).click();
  await watchIn(adIn(page));
  await adIn(page).getByRole("button", { name: "Close", exact: true }).click();
}

async function tapAndLeave(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Watch an ad" }).click();
  await adIn(page)
    .getByRole("button", { name: /^Watch/ })
    .waitFor();
  await page.locator("dialog").evaluate((dialog) => dialog.remove());
}

for (const name of ["plain", "react", "vue"])
  test(`the page "${name}" shows an ad, and its player is paid`, { tag: name === "react" ? [] : "@long" }, async ({
    api,
    page,
    userId,
    open,
  }) => {
    await open(page, name, userId);
    await tapAndWatch(page);
    await expect(page.getByText("Thank you!")).toBeVisible();
    await expectPaidOnce(api, userId, "rewarded");
  });

test("a page that was written for AdsGram shows our ads, with AdsGram's own package and another address", async ({
  api,
  page,
  userId,
  open,
}) => {
  const foreign: string[] = [];
  page.on("request", (request) => request.url().includes("adsgram.ai") && foreign.push(request.url()));
  await open(page, "adsgram", userId);
  await tapAndLeave(page);
  await expect(page.getByText("No reward: closed-early")).toBeVisible();
  await tapAndWatch(page);
  await expect(page.getByText("Thank you!")).toBeVisible();
  await expect(page).toHaveTitle("onReward");
  await expectPaidOnce(api, userId, "rewarded");
  expect(foreign).toEqual([]);
});

interface AdsgramOfPage {
  Adsgram: {
    init(block: { blockId: string }): {
      show(): Promise<object>;
      addEventListener(event: string, listener: () => void): void;
      destroy(): void;
    };
  };
}

/** Shows AdsGram's ad of the page and returns what it answers, and the events before. */
const showOfAdsgram = (page: Page, blockId = "123", isDestroyed = false) =>
  page.evaluate(
    async ({ block, isEnded }) => {
      const { Adsgram } = window as unknown as AdsgramOfPage;
      const controller = Adsgram.init({ blockId: block });
      const events: string[] = [];
      for (const name of [
        "onReward",
        "onStart",
        "onSkip",
        "onBannerNotFound",
        "onNonStopShow",
        "onTooLongSession",
        "onError",
      ])
        controller.addEventListener(name, () => events.push(name));
      const shown = controller.show();
      if (isEnded) controller.destroy();
      const answer = await shown.catch((refusal: object) => refusal);
      return { answer, events, isOne: Adsgram.init({ blockId: block }) === controller };
    },
    { block: blockId, isEnded: isDestroyed },
  );

test("AdsGram's events and results tell why there is no ad", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
  open,
}) => {
  const { botId } = stack.secrets;
  await open(page, "adsgram", userId);
  const refused = (description: string, error = true) => ({ done: false, description, state: "load", error });

  await stack.ads(["bots", "suspend", botId]);
  await expect
    .poll(() => showOfAdsgram(page))
    .toEqual({
      answer: refused("refused: BOT_SUSPENDED"),
      events: ["onError"],
      isOne: true,
    });
  await stack.ads(["bots", "resume", botId]);
  // The page's wish removes it, and no listener is left to hear so.
  await expect
    .poll(() => showOfAdsgram(page, "124", true))
    .toMatchObject({
      answer: refused("closed-early", false),
      events: [],
    });
  await expectNeverPaid(api, userId);
});

test("AdsGram's blocks of interstitials show ours: skipped counts as done, rewards nobody, and the next one comes too early", {
  tag: "@long",
}, async ({ api, page, stack, userId, open }) => {
  const video = join(root, "apps/ad-service/sample/house-ad.mp4");
  // biome-ignore format: packed
  const added = await stack.ads([
    "campaigns", "add", "--name", "Between scenes", "--advertiser", "Scenes", "--format", "interstitial", "--video", video,
    "--skip-after", "1", "--priority", "sponsorship", "--billing", "credit", "--json",
  ]);
  try {
    await open(page, "adsgram", userId);
    const shown = showOfAdsgram(page, "int-123");
    const skip = adIn(page).locator(".skip");
    // Chromium discards the first taps in a frame that has just appeared.
    await expect(async () => {
      if ((await page.locator("iframe").count()) > 0) await skip.click({ timeout: 500 });
      await expect(page.locator("iframe")).toHaveCount(0, { timeout: 300 });
    }).toPass();
    expect(await shown).toEqual({
      answer: { done: true, description: "skipped", state: "destroy", error: false },
      events: ["onStart", "onSkip"],
      isOne: true,
    });
    expect(await showOfAdsgram(page, "int-456")).toMatchObject({
      answer: { done: false, description: "limited: cooldown", error: true },
      events: ["onNonStopShow"],
    });
    await expectNeverPaid(api, userId);
  } finally {
    await stack.ads(["campaigns", "archive", JSON.parse(added).campaignId]);
  }
});

test("a page that was written for Monetag shows our ads, whatever Monetag's own script does meanwhile", {
  tag: "@long",
}, async ({ api, page, userId, open }) => {
  // The package loads it from an address of its own.
  await page.route("**/yoszi.com/sdk.js", (route) =>
    route.fulfill({
      contentType: "text/javascript",
      body: `try { window.show_123456 = () => Promise.resolve("theirs"); } catch {}`,
    }),
  );
  await open(page, "monetag", userId);
  await tapAndLeave(page);
  await expect(page.getByText("No reward: closed-early")).toBeVisible();
  await tapAndWatch(page);
  await expect(page.getByText("Thank you!")).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
});

test("a page that was written for RichAds shows our ads behind the name of RichAds' controller", {
  tag: "@long",
}, async ({ api, page, userId, open }) => {
  await open(page, "richads", userId);
  await tapAndLeave(page);
  await expect(page.getByText("No reward: closed-early")).toBeVisible();
  await tapAndWatch(page);
  await expect(page.getByText("Thank you!")).toBeVisible();
  await expectPaidOnce(api, userId, "rewarded");
});

test("Monetag's formats that reward nobody are refused by name, and its preload loads ours", async ({
  page,
  userId,
  open,
}) => {
  await page.route("**/yoszi.com/sdk.js", (route) => route.abort());
  await open(page, "monetag", userId);
  const ask = (options: unknown) =>
    page.evaluate(
      (passed) =>
        (window as unknown as { show_123456(options: unknown): Promise<unknown> }).show_123456(passed).then(
          () => "resolved",
          (error: Error) => error.message,
        ),
      options,
    );
  expect(await ask("pop")).toContain("has no ads here");
  expect(await ask({ type: "inApp", inAppSettings: { frequency: 2 } })).toContain("has no ads here");
  expect(await ask("preload")).toBe("resolved");
  await expect(page.locator("iframe")).toHaveCount(1);
  await expect(page.locator("dialog")).toBeHidden();
});
