import type { BrowserContext, Frame } from "@playwright/test";
import { launchUrl } from "./open-miniapp.ts";
import { expect, expectPaidOnce, newCode, type test } from "./stack.ts";
import { openInTelegram, type TelegramClient } from "./telegram-client.ts";

type Fixtures = Parameters<Parameters<typeof test>[2]>[0];
type Fixture = Pick<Fixtures, "api" | "stack"> & { context: BrowserContext; userId: string; client: TelegramClient };

/** Taps back and stays; is interrupted and returns; watches to the end, closes and is paid. */
export async function watchToTheReward({ api, stack, context, userId, client }: Fixture): Promise<void> {
  const { miniappUrl } = await newCode(api, userId);
  const app = await openInTelegram(context, launchUrl(miniappUrl, userId, stack.secrets), client, ["back", "hide"]);
  const { frame } = app;
  const video = frame.locator("video");
  await app.tap("Watch");
  await app.tap("Resume");
  await expect(frame.getByRole("button", { name: "Tap to continue" })).toBeVisible();
  await expect(video).toHaveJSProperty("paused", true);
  await app.show();
  await goOnToTheEnd(frame);
  await app.tap(/^Reward earned/);
  await expect(frame.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  await app.tap("Close");
  await expect.poll(() => app.posted()).toContain("web_app_close");
  await expectPaidOnce(api, userId, "rewarded");
  expect(app.faults).toEqual([]);
  await app.page.close();
}

/** Gives up the reward in the middle, reopens the app, watches the rest, and swipes the page away: is paid once. */
export async function leaveAndComeBack({ api, stack, context, userId, client }: Fixture): Promise<void> {
  const { miniappUrl } = await newCode(api, userId);
  const url = launchUrl(miniappUrl, userId, stack.secrets);
  const left = await openInTelegram(context, url, client, ["back"]);
  await left.tap("Watch");
  await left.tap("Close and lose the reward");
  await expect.poll(() => left.posted()).toContain("web_app_close");
  await left.page.close();

  const again = await openInTelegram(context, url, client);
  await again.tap(/^(Watch|Continue watching)$/);
  await goOnToTheEnd(again.frame);
  // The rest of the video took long enough for a payment of the first part to arrive.
  expect(await api.listRewards(userId)).toEqual([]);
  await again.page.close({ runBeforeUnload: false });
  await expectPaidOnce(api, userId, "rewarded");
  expect([...left.faults, ...again.faults]).toEqual([]);
}

/** A browser may require a tap before playback resumes; the page then asks for it. */
async function goOnToTheEnd(frame: Frame): Promise<void> {
  const end = frame.getByRole("heading", { name: "You can close now" });
  const tap = frame.getByRole("button", { name: /^Tap to/ });
  await expect(async () => {
    if (await tap.isVisible()) await tap.click({ timeout: 1000 });
    await expect(end).toBeVisible({ timeout: 1000 });
  }).toPass({ timeout: 30_000 });
}
