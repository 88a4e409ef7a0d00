import type { Page } from "@playwright/test";

/**
 * Follows a direct link to the advertiser's page. All browsers of a run share one IP address, and from the second click of
 * an address within a minute the service requires a tap.
 */
export async function arriveAtLanding(page: Page, landingUrl: string): Promise<void> {
  await page.waitForLoadState();
  if (!page.url().startsWith(landingUrl)) await page.getByRole("button").click();
  await page.waitForURL((url) => url.href.startsWith(landingUrl));
}
