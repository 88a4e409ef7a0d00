import { join } from "node:path";
import { root } from "../scripts/processes.ts";
import { adIn, result, show, test } from "./in-app-game.ts";
import { expect, expectNeverPaid } from "./stack.ts";

// Of 10 s, so that it can be skipped also where a tap takes seconds.
const video = join(root, "apps/ad-service/sample/house-ad.mp4");

test("a game shows an interstitial that may be skipped: it is charged once, rewards nobody, and none follows within the pause", async ({
  api,
  page,
  stack,
  userId,
  game,
}) => {
  // biome-ignore format: packed
  const added = await stack.ads([
    "campaigns", "add", "--name", "Between", "--advertiser", "Acme", "--format", "interstitial", "--video", video,
    "--view-price", "0.004", "--skip-after", "1", "--priority", "sponsorship", "--billing", "credit", "--json",
  ]);
  const { campaignId } = JSON.parse(added);
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
    const skip = ad.getByRole("button", { name: "Skip", exact: true });
    // Chromium discards the first taps in a frame that has just appeared.
    await expect(async () => {
      await skip.click({ timeout: 500 });
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
