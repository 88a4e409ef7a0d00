import { closeAndGet, openWithNewCode, watchToTheEnd } from "./open-miniapp.ts";
import { expect, expectPaidOnce, test } from "./stack.ts";

declare global {
  interface Window {
    /** Names of the screens that were shown, in order. */
    shownStates: string[];
  }
}

test("the status follows the ad at once, contacts only both services, and shows each step, also when opened again", async ({
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
  const requests: URL[] = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== "null") requests.push(url);
    // The publisher's API is signed in to while the ad plays.
    if (request.method() === "POST" && url.pathname.includes("telegramUser.signIn"))
      signIns.push({ isAfterTheClose: isClosed });
  });
  await openWithNewCode({ api, page, stack, userId });
  await watchToTheEnd(page);
  isClosed = true;
  await closeAndGet(page);
  await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
  const shown = await page.evaluate(() => window.shownStates);
  expect(shown.slice(shown.indexOf("playing"))).not.toContain("opening");
  expect(signIns).toEqual([{ isAfterTheClose: false }]);
  await expectPaidOnce(api, userId, "rewarded");

  expect([...new Set(requests.map(({ origin }) => origin))].sort()).toEqual(
    [stack.urls.adService, stack.urls.api].sort(),
  );
  const addresses = requests.map(({ pathname, search }) => `${pathname}${search}`);
  // URLs end up in logs, so they must not contain launch data or tokens.
  expect(addresses.filter((address) => /hash=|user=|initData|token/i.test(address))).toEqual([]);
  expect(addresses.length).toBeGreaterThan(5);

  const steps = page.getByRole("list", { name: "Where your reward is" }).getByRole("listitem");
  const expectAllDone = async () => {
    for (const [index, name] of ["Watched", "Sent to the bot", "Credited"].entries()) {
      await expect(steps.nth(index)).toHaveText(new RegExp(`^${name}\\s*Done\\s*\\d{1,2}:\\d\\d`));
    }
  };
  await expectAllDone();
  await page.reload();
  await expectAllDone();
});

test("another ad is offered only when there is one; before, the status says when", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  const { botId } = stack.secrets;
  await openWithNewCode({ api, page, stack, userId });
  await watchToTheEnd(page);
  await stack.ads(["bots", "update", botId, "--cooldown", "20"]);
  try {
    const another = page.getByRole("button", { name: "Watch another ad" });
    const timer = page.getByRole("timer");
    await closeAndGet(page);
    await expect(timer).toHaveText(/^Next ad in \d+\sseconds?$/);
    await expect(another).toBeHidden();
    const element = await timer.elementHandle();
    const value = timer.locator("bdi");
    const first = await value.elementHandle();
    const text = await value.textContent();
    await expect(value).not.toHaveText(text ?? "");
    // The countdown changes a text; it does not make new elements, which a screen reader would lose.
    expect(await value.evaluate((now, before) => now === before, first)).toBe(true);
    expect(await element?.evaluate(({ isConnected }) => isConnected)).toBe(true);
    await expect(another).toBeVisible({ timeout: 30_000 });
    await expect(timer).toBeHidden();
  } finally {
    await stack.ads(["bots", "update", botId, "--cooldown", "0"]);
  }
});
