import { join } from "node:path";
import type { Page } from "@playwright/test";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { root } from "../scripts/processes.ts";
import { analyze } from "./axe.ts";
import { adIn, result, show, test } from "./in-app-game.ts";
import { initDataOf } from "./scripted-viewer.ts";
import { expect, expectNeverPaid } from "./stack.ts";

// Of 10 s, so that it can be skipped also where a tap takes seconds.
const video = join(root, "apps/ad-service/sample/house-ad.mp4");

/** Adds a campaign whose ad may be skipped after so many seconds, and returns its id. */
async function sellInterstitial({ ads }: Pick<DemoStack, "ads">, name: string, skipAfter: number): Promise<string> {
  // biome-ignore format: packed
  const added = await ads([
    "campaigns", "add", "--name", name, "--advertiser", "Acme", "--format", "interstitial", "--video", video,
    "--view-price", "0.004", "--skip-after", String(skipAfter), "--priority", "sponsorship", "--billing", "credit", "--json",
  ]);
  return JSON.parse(added).campaignId;
}

/** Violations that axe finds in the frame, without the game's page. */
const violationsIn = async (page: Page) =>
  (await analyze({ frames: () => page.frames().filter((frame) => frame.url().includes("/embed/")) })).violations;

test("a game shows an interstitial that may be skipped: it is charged once, rewards nobody, and none follows within the pause", async ({
  api,
  page,
  stack,
  userId,
  game,
}) => {
  const campaignId = await sellInterstitial(stack, "Between", 1);
  const spent = async () => {
    const listed = JSON.parse(await stack.ads(["campaigns", "list", "--json"]));
    return listed.find((one: { campaignId: string }) => one.campaignId === campaignId)?.delivered;
  };
  try {
    await game.open(page, userId);
    await show(page, { format: "interstitial" });
    const ad = adIn(page);
    await expect(ad.getByRole("timer")).toHaveText(/^Skip in 1\ss$/);
    await expect(ad.getByRole("button", { name: "Close", exact: true })).toHaveCount(0);
    expect(await violationsIn(page)).toEqual([]);
    const skip = ad.getByRole("button", { name: "Skip", exact: true });
    // Chromium discards the first taps in a frame that has just appeared; the frame of one that counted goes a moment later.
    await expect(async () => {
      if ((await page.locator("iframe").count()) > 0) await skip.click({ timeout: 500 });
      await expect(page.locator("iframe")).toHaveCount(0, { timeout: 300 });
    }).toPass();
    expect(await result(page)).toEqual({ outcome: "skipped", secondsWatched: expect.any(Number) });
    await expect.poll(spent).toEqual({ views: 1, clicks: 0, spentMicros: 4000 });

    await show(page, { format: "interstitial" });
    expect(await result(page)).toMatchObject({ outcome: "limited", reason: "cooldown" });
    await expect(page.locator("iframe")).toHaveCount(0);
    expect(await spent()).toMatchObject({ views: 1, spentMicros: 4000 });
    await expectNeverPaid(api, userId);
  } finally {
    await stack.ads(["campaigns", "archive", campaignId]);
  }
});

test(
  "the way out of an interstitial can be read and tapped in every writing direction, also with large text on a small phone",
  {
    tag: "@long",
  },
  async ({ browser, stack, userId, game }, testInfo) => {
    const campaignId = await sellInterstitial(stack, "Large text", 3);
    await stack.ads(["bots", "update", stack.secrets.botId, "--interstitial", "0"]);
    try {
      for (const [place, language] of ["en", "ru", "de", "uz", "hi", "ar", "fa"].entries()) {
        const own = await browser.newPage({ viewport: { width: 360, height: 640 }, hasTouch: true });
        const initData = initDataOf(`${userId}${place}`, stack.secrets, new Date(), language);
        await game.open(own, userId, { initData });
        await show(own, { format: "interstitial" });
        const ad = adIn(own);
        await ad.getByRole("timer").waitFor();
        await ad.locator("html").evaluate((html) => {
          html.style.fontSize = "200%";
        });
        const of = `${language}: `;
        for (const state of ["waits", "may be skipped"]) {
          const control = state === "waits" ? ad.getByRole("timer") : ad.locator(".skip");
          await control.waitFor();
          await own.screenshot({ path: testInfo.outputPath(`${language}-${state}.png`) });
          const box = await control.boundingBox();
          expect(box, of + state).not.toBeNull();
          if (!box) continue;
          expect(box.x, of + state).toBeGreaterThanOrEqual(0);
          expect(box.x + box.width, of + state).toBeLessThanOrEqual(360);
          expect(box.y + box.height, of + state).toBeLessThanOrEqual(640 / 3);
          if (state !== "waits") expect(box.height, of + state).toBeGreaterThanOrEqual(44);
          const isCut = await control.evaluate(
            (element) =>
              element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1,
          );
          expect(isCut, `${of}${state}, cut`).toBe(false);
          // Lines break only between words.
          const [lines = 0, words = 0] = await control.evaluate((element) => {
            const text = document.createRange();
            text.selectNodeContents(element);
            const tops = new Set([...text.getClientRects()].map(({ top }) => Math.round(top)));
            return [tops.size, element.textContent.trim().split(/\s+/).length];
          });
          expect(lines, `${of}${state}, lines`).toBeLessThanOrEqual(words);
          const label = await ad.locator(".pill-brand").boundingBox();
          if (state !== "waits" && label)
            expect(
              label.x + label.width <= box.x || label.x >= box.x + box.width || label.y + label.height <= box.y,
              `${of}${state}, beside the label`,
            ).toBe(true);
          expect(await violationsIn(own), of + state).toEqual([]);
        }
        await ad.locator(".skip").tap();
        expect(await result(own)).toMatchObject({ outcome: "skipped" });
        await own.close();
      }
    } finally {
      await stack.ads(["bots", "update", stack.secrets.botId, "--interstitial", "60"]);
      await stack.ads(["campaigns", "archive", campaignId]);
    }
  },
);
