import type { FrameLocator, Locator, Page } from "@playwright/test";

/** The panel beside the demo's chat. */
export const panelOf = (page: Page): Locator => page.getByRole("complementary");

/** Asks the demo's bot for an ad as `userId`, and opens it. */
export async function openDemoAd(page: Page, chatUrl: string, userId: string): Promise<FrameLocator> {
  await page.goto(`${chatUrl}/?user=${userId}`);
  await page.getByRole("button", { name: "Earn coins" }).click();
  await page.getByRole("button", { name: "Watch an ad" }).click();
  return page.frameLocator('iframe[title="Mini-app"]');
}
