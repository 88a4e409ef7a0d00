import { closeAndGet, launchUrl, watchToTheEnd } from "./open-miniapp.ts";
import { expect, newCode, test } from "./stack.ts";

declare global {
  interface Window {
    /** Names of the screens that were shown, in order. */
    shownStates: string[];
  }
}

test("the status follows the ad at once, and the publisher's API is signed in to while the ad plays", async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.addInitScript(() => {
    window.shownStates = [];
    new MutationObserver(() => {
      const { state } = document.documentElement.dataset;
      if (state) window.shownStates.push(state);
    }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-state"] });
  });
  let isClosed = false;
  const signIns: { isAfterTheClose: boolean }[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().includes("telegramUser.signIn"))
      signIns.push({ isAfterTheClose: isClosed });
  });
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await watchToTheEnd(page);
  isClosed = true;
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  const shown = await page.evaluate(() => window.shownStates);
  expect(shown.slice(shown.indexOf("playing"))).not.toContain("opening");
  expect(signIns).toEqual([{ isAfterTheClose: false }]);
});

test("another ad is offered only when there is one; before, the status says when", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  const { botId } = stack.secrets;
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets));
  await watchToTheEnd(page);
  await stack.ads(["bots", "update", botId, "--cooldown", "12"]);
  try {
    const another = page.getByRole("button", { name: "Watch another ad" });
    const timer = page.getByRole("timer");
    await closeAndGet(page);
    await expect(timer).toHaveText(/^Next ad in \d+ seconds?$/);
    await expect(another).toBeHidden();
    const element = await timer.elementHandle();
    const value = timer.locator("bdi");
    const first = await value.elementHandle();
    const text = await value.textContent();
    await expect(value).not.toHaveText(text ?? "");
    // The countdown changes a text; it does not make new elements, which a screen reader would lose.
    expect(await value.evaluate((now, before) => now === before, first)).toBe(true);
    expect(await element?.evaluate(({ isConnected }) => isConnected)).toBe(true);
    await expect(another).toBeVisible({ timeout: 20_000 });
    await expect(timer).toBeHidden();
  } finally {
    await stack.ads(["bots", "update", botId, "--cooldown", "0"]);
  }
});
