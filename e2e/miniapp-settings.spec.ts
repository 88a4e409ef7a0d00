import type { Page } from "@playwright/test";
import type { DemoStack } from "../scripts/demo-stack.ts";
import { runCommand } from "../scripts/processes.ts";
import { openWithNewCode } from "./open-miniapp.ts";
import { expect, test } from "./stack.ts";

type Posted = [method: string, parameters: { url?: string; is_visible?: boolean }][];

/** A stand-in for Telegram's client that notes what the app asks of it. */
async function noteCalls(page: Page): Promise<() => Promise<Posted>> {
  await page.addInitScript(() => {
    const posted: [string, unknown][] = [];
    const postEvent = (method: string, parameters: string) => posted.push([method, JSON.parse(parameters || "{}")]);
    Object.assign(window, { TelegramWebviewProxy: { postEvent }, posted });
  });
  return () => page.evaluate(() => (window as unknown as { posted: Posted }).posted);
}

/** What the publisher's doctor says of the mini-app. */
async function examine({ urls, secrets }: DemoStack): Promise<string> {
  const env = { AD_SERVICE_URL: urls.adService, AD_API_TOKEN: secrets.adApiToken ?? "", BOT_ID: secrets.botId };
  return runCommand(process.execPath, ["packages/publisher/src/cli.ts", "doctor"], { env });
}

test("the settings button of the client opens what is stored of the user, with the publisher's privacy policy", {
  tag: "@long",
}, async ({ api, page, stack, userId }) => {
  const { botId } = stack.secrets;
  await stack.ads(["bots", "update", botId, "--privacy-url", "https://garden.example/privacy#ads"]);
  const posted = await noteCalls(page);
  await openWithNewCode({ api, page, stack, userId });
  await expect.poll(posted).toContainEqual(["web_app_setup_settings_button", { is_visible: true }]);
  expect(await page.locator('link[rel="privacy-policy"]').getAttribute("href")).toBe(
    "https://garden.example/privacy#ads",
  );

  await page.evaluate(() => window.Telegram?.WebView?.receiveEvent?.("settings_button_pressed", null));
  const url = `${stack.urls.adService}/app/${botId}/settings`;
  await expect.poll(posted).toContainEqual(["web_app_open_link", expect.objectContaining({ url })]);
  expect(await examine(stack)).not.toContain("privacy");
  // The ad stays as it was.
  await expect(page.getByRole("button", { name: /^Watch/ })).toBeVisible();

  const settings = await page.context().newPage();
  const answer = await settings.goto(url);
  expect(answer?.headers()["content-security-policy"]).toContain("default-src 'none'");
  await expect(settings.getByRole("heading", { name: "Your data" })).toBeVisible();
  await expect(settings.getByText("To have all this erased")).toBeVisible();
  const policy = settings.getByRole("link", { name: "Privacy policy" });
  await expect(policy).toHaveAttribute("href", "https://garden.example/privacy#ads");

  await stack.ads(["bots", "update", botId, "--privacy-url", "none"]);
  expect(await examine(stack)).toContain("--privacy-url");
  await expect(async () => {
    await settings.reload();
    await expect(policy).toHaveCount(0, { timeout: 500 });
  }).toPass();
  expect((await settings.goto(`${stack.urls.adService}/app/1/settings`))?.status()).toBe(404);
});
