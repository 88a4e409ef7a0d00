import type { FrameLocator, Locator, Page } from "@playwright/test";
import { openDemoAd, panelOf } from "./demo-panel.ts";
import { expect, expectNeverPaid, expectPaidOnce, test } from "./stack.ts";

// The chat, the phone and the panel beside each other.
test.use({ viewport: { width: 1280, height: 740 }, isMobile: false, hasTouch: false });

async function watchAd(page: Page, chatUrl: string, userId: string): Promise<FrameLocator> {
  const miniapp = await openDemoAd(page, chatUrl, userId);
  await miniapp.getByRole("button", { name: "Watch" }).click();
  await miniapp.getByRole("button", { name: /^Reward earned/ }).click({ timeout: 20_000 });
  return miniapp;
}

/** The attempts of the newest webhook in the panel. */
async function attemptsOf(page: Page): Promise<Locator> {
  await page.getByRole("tab", { name: "Webhooks" }).click();
  return panelOf(page).locator(".receipts > li").first().locator(".attempts > li");
}

async function chooseReceiver(page: Page, label: string): Promise<void> {
  await page.getByRole("tab", { name: "Webhooks" }).click();
  const saved = page.waitForResponse((response) => response.url().endsWith("/receiver") && response.status() === 204);
  await page.getByLabel("The bot’s server").selectOption({ label });
  await saved;
}

test.afterEach(async ({ stack }) => {
  // The receiver is the stack's, which the other tests of this worker use.
  const body = JSON.stringify({ mode: "accept" });
  await fetch(`${stack.urls.demoBot}/receiver`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body,
  });
});

test("the timeline shows each real step of a view, and the verifier turns red for one changed byte", async ({
  api,
  page,
  stack,
  userId,
}) => {
  await watchAd(page, stack.urls.demoBot, userId);
  await expectPaidOnce(api, userId, "rewarded");
  const steps = panelOf(page).locator(".step");
  await expect(steps.filter({ hasText: "Ledger of the bot" })).toContainText("paid · +10");
  const titles = async () => {
    const all = await steps.locator(".step-title").allTextContents();
    return all.filter((title) => title !== "Report" && title !== "First frame on the screen");
  };
  // The attempt is recorded when it was answered, and the ledger's entry is made before.
  await expect
    .poll(titles)
    .toEqual([
      "The bot got a code",
      "Tap: the mini-app opens",
      "Session opened",
      "Playback started",
      "Closed by a tap",
      "Earned: the ad service recorded the event",
      "Webhook, attempt 1",
      "Signature verified",
      "Ledger of the bot",
    ]);
  expect(await steps.locator(".step-title").allTextContents()).toContain("First frame on the screen");
  await expect(steps.filter({ hasText: "Report" }).last()).toContainText(/accepted 2\.0\ss in all/);
  const times = (await steps.locator(".when").allTextContents()).map((text) => Number(text.slice(1)));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times.at(-1)).toBeGreaterThan(2);

  await page.getByRole("tab", { name: "Webhooks" }).click();
  await page.getByText("Verify a signature yourself").click();
  const verdict = page.locator("#verifier-verdict");
  await expect(verdict).toHaveText("Valid: this body was signed with the bot’s token.");
  const body = page.getByLabel("Body", { exact: true });
  await expect(body).toHaveValue(/"event":/);
  await page.getByRole("button", { name: "Change one byte" }).click();
  await expect(verdict).toHaveText("Not valid: this is not what was signed.");
  await page.getByRole("button", { name: "Restore" }).click();
  await expect(verdict).toHaveText(/^Valid/);
  await body.press("End");
  await body.press("Space");
  await expect(verdict).toHaveText(/^Not valid/);
});

test("a receiver that answers 500 is tried again, and pays once it accepts", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  test.setTimeout(120_000);
  // A new endpoint that answers its test 500 would get no events at all.
  await stack.ads(["endpoints", "test", stack.secrets.botId]);
  await page.goto(`${stack.urls.demoBot}/?user=${userId}`);
  await chooseReceiver(page, "answers 500");
  await watchAd(page, stack.urls.demoBot, userId);
  const attempts = await attemptsOf(page);
  await expect(attempts.first()).toContainText("500");
  await expect(attempts.first()).toContainText("next attempt at");
  await expect(attempts.first()).toContainText("The receiver failed: look at its log.");
  await chooseReceiver(page, "accepts webhooks");
  // On a busy machine the second attempt, after 5 s, may still get the 500; the third comes half a minute later.
  await expect(panelOf(page).locator(".receipts > li").first()).toContainText("paid", { timeout: 60_000 });
  // Where the companion API has just started, it may have read the event in the feed before: then the webhook pays nothing more.
  await expectPaidOnce(api, userId, "rewarded");
  await expect(attempts.locator(".result", { hasText: /^200$/ })).toHaveCount(1);
});

test("a webhook that arrives twice is accepted twice and pays once; each attempt is shown as it came", {
  tag: "@long",
}, async ({ api, page, stack, userId }) => {
  await page.goto(`${stack.urls.demoBot}/?user=${userId}`);
  await chooseReceiver(page, "gets each webhook twice");
  await watchAd(page, stack.urls.demoBot, userId);
  const attempts = await attemptsOf(page);
  await expect(attempts.locator(".result", { hasText: /^200$/ })).toHaveCount(2);
  await expectPaidOnce(api, userId, "rewarded");
  expect(await api.listRewards(userId)).toHaveLength(1);
  await attempts.last().locator("summary").click();
  await expect(attempts.last()).toContainText("webhook-attempt: 2");
  await expect(attempts.last()).toContainText(`"user_tg_id":"${userId}"`);
  await expect(attempts.last().getByRole("button", { name: "Copy as curl" })).toBeVisible();
});

test("menus: a scenario, an offline phone and a language take effect at once", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  await page.goto(`${stack.urls.demoBot}/?user=${userId}`);
  await page.getByRole("tab", { name: "Try" }).click();
  await page.getByLabel("Scenario").selectOption("no-ad");
  await page.getByRole("combobox", { name: "Phone" }).selectOption("small");
  await page.getByRole("button", { name: "Earn coins" }).click();
  await page.getByRole("button", { name: "Watch an ad" }).click();
  const miniapp = page.frameLocator('iframe[title="Mini-app"]');
  await expect(miniapp.getByRole("heading", { name: "No ad right now" })).toBeVisible();
  expect((await page.locator("#phone").boundingBox())?.width).toBeLessThan(350);
  await page.getByRole("button", { name: "Close the mini-app" }).click();

  await page.getByLabel("Scenario").selectOption("");
  await page.getByRole("button", { name: "Watch an ad" }).click();
  await miniapp.getByRole("button", { name: "Watch" }).waitFor();
  const saved = page.waitForResponse((response) => response.url().endsWith("/network"));
  await page.getByLabel("Network").selectOption("offline");
  await saved;
  await miniapp.getByRole("button", { name: "Watch" }).click();
  await expect(miniapp.getByText(/connection|offline/i).first()).toBeVisible({ timeout: 20_000 });

  await page.getByLabel("Language").selectOption("ru");
  await expect(page.getByRole("tab", { name: "Опыты" })).toBeVisible();
  await expectNeverPaid(api, userId);
});
