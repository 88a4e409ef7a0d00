import type { Page } from "@playwright/test";

/**
 * From a direct link to the advertiser's page. All browsers of a run share one address, and of the clicks of one address
 * in a minute the second one is asked for a tap.
 */
export async function arriveAtLanding(page: Page, landingUrl: string): Promise<void> {
  await page.waitForLoadState();
  if (!page.url().startsWith(landingUrl)) await page.getByRole("button").click();
  await page.waitForURL((url) => url.href.startsWith(landingUrl));
}
