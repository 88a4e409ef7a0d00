import { closeAndGet, launchUrl, watchToTheEnd } from "./open-miniapp.ts";
import { initDataOf } from "./scripted-viewer.ts";
import { expect, expectPaidOnce, newCode, test } from "./stack.ts";

const phone =
  "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";

test("after the reward another ad can be watched and is paid; a cooldown is counted down by the service's clock", {
  tag: "@long",
}, async ({ api, page, stack, userId }) => {
  const { miniappUrl } = await newCode(api, userId);
  const { botId } = stack.secrets;
  // A device whose clock is an hour fast.
  await page.clock.install({ time: Date.now() + 3_600_000 });
  await page.clock.resume();
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets, { initData: initDataOf(userId, stack.secrets) }));
  const another = page.getByRole("button", { name: "Watch another ad" });
  for (const round of [1, 2]) {
    await watchToTheEnd(page);
    await closeAndGet(page);
    await expect(page.getByRole("heading", { name: "Reward credited" })).toBeVisible();
    expect(await api.balance(userId)).toBe(10 * round);
    if (round === 1) await another.click();
  }
  const paid = await api.listRewards(userId);
  expect(new Set(paid.map(({ code }) => code)).size).toBe(2);

  await another.waitFor();
  await stack.ads(["bots", "update", botId, "--cooldown", "300"]);
  try {
    await another.click();
    const timer = page.getByRole("timer");
    await expect(timer).toContainText(/[234]\sminutes/);
    const first = await timer.textContent();
    await expect(timer).not.toHaveText(first ?? "");
  } finally {
    await stack.ads(["bots", "update", botId, "--cooldown", "0"]);
  }
});

for (const { kind, code, title } of [
  { kind: "a damaged code", code: "damaged", title: "This link is damaged" },
  { kind: "an unknown code", code: "2".repeat(18), title: "We don’t know this link" },
]) {
  const tag = kind === "a damaged code" ? [] : "@long";
  test(`${kind} is no dead end: it leads to the bot, or to an ad that is paid`, { tag }, async ({
    api,
    page,
    stack,
    userId,
  }) => {
    const { miniappUrl } = await newCode(api, userId);
    const url = new URL(miniappUrl);
    url.searchParams.set("code", code);
    await page.goto(launchUrl(url.href, userId, stack.secrets));
    await expect(page.getByRole("heading", { name: title })).toBeVisible();
    await expect(page.getByRole("link", { name: "Open the bot" })).toHaveAttribute("href", /^https:\/\/t\.me\//);
    await page.getByRole("button", { name: "Watch an ad" }).click();
    await watchToTheEnd(page);
    await closeAndGet(page);
    await expectPaidOnce(api, userId, "rewarded");
  });
}

test("an ad still on its offer does not start if another ad was earned meanwhile, and shows the remaining wait", async ({
  api,
  page,
  stack,
  userId,
}) => {
  const { botId } = stack.secrets;
  await stack.ads(["bots", "update", botId, "--cooldown", "300"]);
  try {
    const offered = await newCode(api, userId);
    await page.goto(launchUrl(offered.miniappUrl, userId, stack.secrets));
    await page.getByRole("button", { name: "Watch" }).waitFor();
    const headers = { "user-agent": phone, "accept-language": "en" };
    const followed = await fetch(offered.directLink, { headers, redirect: "manual" });
    expect(followed.status).toBe(302);
    await page.getByRole("button", { name: "Watch" }).click();
    await expect(page.getByRole("heading", { name: "A short break" })).toBeVisible();
    await expect(page.getByRole("timer")).toContainText(/[234]\sminutes/);
    await expectPaidOnce(api, userId, "direct_link");
  } finally {
    await stack.ads(["bots", "update", botId, "--cooldown", "0"]);
  }
});
