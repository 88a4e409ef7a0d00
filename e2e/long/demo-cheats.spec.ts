import { join } from "node:path";
import type { Page } from "@playwright/test";
import { root } from "../../scripts/processes.ts";
import { openDemoAd, panelOf } from "../demo-panel.ts";
import { expect, expectNothingPaid, test } from "../stack.ts";

// Ten seconds long. The service's clock runs from the opening of a view: in a clip of two seconds, a busy machine would
// reach the button so late that twice the speed is no cheat any more.
test.use({
  adVideo: join(root, "apps/ad-service/sample/house-ad.mp4"),
  viewport: { width: 1280, height: 740 },
  isMobile: false,
  hasTouch: false,
});

/** Begins to watch, and cheats at once. Returns the steps of the timeline. */
async function cheat(page: Page, chatUrl: string, userId: string, name: string) {
  const miniapp = await openDemoAd(page, chatUrl, userId);
  await page.getByRole("button", { name: "Cheat" }).click();
  await miniapp.getByRole("button", { name: "Watch" }).click();
  await page.getByRole("button", { name }).click();
  return { miniapp, steps: panelOf(page).locator(".step") };
}

for (const [name, step] of [
  ["Double speed", "Cheat: double speed"],
  ["Jump to the end", "Cheat: jumped to the end"],
] as const) {
  test(`"${name}" is refused by the ad service, the timeline says so, and no time is saved`, async ({
    page,
    stack,
    userId,
  }) => {
    const { miniapp, steps } = await cheat(page, stack.urls.demoBot, userId, name);
    await expect(steps.filter({ hasText: step })).toBeVisible();
    await expect(steps.filter({ hasText: "refused: faster than the clock" }).first()).toBeVisible();
    await miniapp.getByRole("button", { name: /^Reward earned/ }).click({ timeout: 60_000 });
    await expect(steps.filter({ hasText: "Earned" })).toBeVisible();
    const timeOf = async (title: string) =>
      Number((await steps.filter({ hasText: title }).locator(".when").first().textContent())?.slice(1));
    // The server counts at most the time since the opening, and needs all but the last second of the video.
    expect((await timeOf("Earned")) - (await timeOf("Session opened"))).toBeGreaterThan(8.9);
  });
}

test("looking away is refused: what plays on behind the page does not count", async ({ api, page, stack, userId }) => {
  const { steps } = await cheat(page, stack.urls.demoBot, userId, "Look away");
  await expect(steps.filter({ hasText: "refused: nobody was looking" })).toBeVisible();
  await expectNothingPaid(api, userId);
});
