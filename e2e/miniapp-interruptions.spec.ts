import { closeAndGet, launchUrl } from "./open-miniapp.ts";
import { expectPaidOnce, newCode, test } from "./stack.ts";

test("what ran before a busy page knew that it plays is not missing in the end", async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.addInitScript(() => {
    const onPlaying = () => {
      // The video goes on while the page's own thread is busy; then the viewer is gone before the app heard of playback.
      const startedAt = performance.now();
      while (performance.now() - startedAt < 700);
      Object.defineProperty(document, "visibilityState", { configurable: true, get: () => "hidden" });
      document.dispatchEvent(new Event("visibilitychange"));
    };
    addEventListener("playing", onPlaying, { capture: true, once: true });
  });
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await page.getByRole("button", { name: "Watch" }).click();
  await page.getByRole("button", { name: "Tap to continue" }).click();
  await closeAndGet(page);
  await expectPaidOnce(api, userId, "rewarded");
});
