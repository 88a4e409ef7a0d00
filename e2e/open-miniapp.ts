import type { Page } from "@playwright/test";
import type { DemoSecrets } from "../scripts/demo-secrets.ts";
import { initDataOf } from "./scripted-viewer.ts";
import { type Api, newCode } from "./stack.ts";

const darkTheme = { bg_color: "#17212b", text_color: "#f5f5f5", button_color: "#5288c1", button_text_color: "#ffffff" };

/** The URL that Telegram would open for this user: the button's URL with the launch data in the fragment. */
export function launchUrl(
  miniappUrl: string,
  userId: string,
  secrets: DemoSecrets,
  options: { theme?: object; initData?: string } = {},
): string {
  const launch = new URLSearchParams({
    tgWebAppData: options.initData ?? initDataOf(userId, secrets),
    tgWebAppVersion: "9.1",
    tgWebAppPlatform: "android",
    tgWebAppThemeParams: JSON.stringify(options.theme ?? darkTheme),
  });
  return `${miniappUrl}#${launch}`;
}

/** Opens the mini-app with a new code of the user, as from the bot's button. */
export async function openWithNewCode({
  api,
  page,
  stack,
  userId,
}: {
  api: Api;
  page: Page;
  stack: { secrets: DemoSecrets };
  userId: string;
}): Promise<void> {
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
}

/**
 * Stops the first video of this tab as soon as it plays; the viewer can go on. On a busy machine its two seconds could be over
 * before the test's next tap. Call it before the page is opened.
 */
export async function stopAtStart(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const stop = ({ target }: Event) => {
      if (!(target instanceof HTMLVideoElement) || sessionStorage.getItem("stopped at start")) return;
      sessionStorage.setItem("stopped at start", "once");
      target.pause();
    };
    addEventListener("playing", stop, { capture: true });
  });
}

/** Starts the ad from the offer and waits until it is watched to the end. */
export async function watchToTheEnd(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^(Watch|Continue watching)( \+| a place|$)/ }).click();
  await page.getByRole("heading", { name: "You can close now" }).waitFor({ timeout: 20_000 });
}

export async function closeAndGet(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^(Reward earned|Earned: )/ }).click();
}
