import { signInitData } from "@intermission/ad-core/telegram-init-data";
import { launchUrl } from "./open-miniapp.ts";
import { expect, test } from "./stack.ts";

test.describe("outside Telegram, on a phone", () => {
  test("the page leads to the bot's chat", async ({ page, stack }) => {
    await page.goto(`${stack.urls.adService}/app/${stack.secrets.botId}?user_tg_id=1`);
    await expect(page.getByRole("heading", { name: "Open this from Telegram" })).toBeVisible();
    const link = page.getByRole("link", { name: "Open the bot" });
    await expect(link).toHaveAttribute("href", /^https:\/\/t\.me\/\w+$/);
    await expect(link).toHaveAttribute("rel", /noopener/);
    await expect(page.getByText("Scan with your phone’s camera")).toBeHidden();
  });
});

test.describe("inside Telegram, without a user", () => {
  const ofReplyKeyboard = "tgWebAppVersion=9.1&tgWebAppPlatform=android&tgWebAppThemeParams=%7B%7D";

  test("the page of a reply keyboard's button says which button to use, and does not lead back in a circle", async ({
    page,
    stack,
  }) => {
    const requests: string[] = [];
    page.on("request", (request) => requests.push(new URL(request.url()).pathname));
    await page.goto(`${stack.urls.adService}/app/${stack.secrets.botId}#${ofReplyKeyboard}`);
    await expect(page.getByRole("heading", { name: "Telegram didn’t say who you are" })).toBeVisible();
    await expect(page.getByText("use the button under the bot’s message")).toBeVisible();
    await expect(page.getByText("For the bot’s owner: reply keyboards pass no user")).toBeVisible();
    await expect(page.getByRole("button", { name: "Close" })).toBeVisible();
    await expect(page.getByRole("link")).toHaveCount(0);
    expect(requests.filter((path) => path.includes("/sessions"))).toEqual([]);
  });

  test("launch data without a user get the same page", async ({ page, stack, userId }) => {
    const { botId, telegramBotToken: botToken, telegramPrivateKey: privateKey } = stack.secrets;
    const fields = { auth_date: String(Math.floor(Date.now() / 1000)), chat_type: "private" };
    const initData = signInitData({ fields, botId, botToken, privateKey });
    await page.goto(launchUrl(`${stack.urls.adService}/app/${botId}`, userId, stack.secrets, { initData }));
    await expect(page.getByRole("heading", { name: "Telegram didn’t say who you are" })).toBeVisible();
  });
});

test.describe("outside Telegram, on a computer", () => {
  test.use({ isMobile: false, hasTouch: false, viewport: { width: 1280, height: 720 } });

  test("the page also shows the bot's address as a QR code", async ({ page, stack }) => {
    const faults: string[] = [];
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    await page.goto(`${stack.urls.adService}/app/${stack.secrets.botId}/`);
    await expect(page.getByRole("link", { name: "Open the bot" })).toBeVisible();
    await expect(page.getByText("Scan with your phone’s camera")).toBeVisible();
    const picture = page.locator(".qr-code img");
    await expect(picture).toHaveJSProperty("complete", true);
    expect(await picture.evaluate(({ naturalWidth }: HTMLImageElement) => naturalWidth)).toBeGreaterThan(20);
    expect(faults).toEqual([]);
  });
});

test.describe("a browser in Arabic", () => {
  test.use({ locale: "ar-EG" });

  for (const [path, title] of [
    ["/ABCDEFGHJKLMNPQRST", "هذا الرابط لا يقود إلى أي مكان"],
    ["/app/999", "لا يُعرض شيء هنا"],
  ] as const) {
    test(`gets the service's own page of ${path} in its language, from right to left`, async ({ page, stack }) => {
      await page.goto(`${stack.urls.adService}${path}`);
      await expect(page.getByRole("heading", { name: title })).toBeVisible();
      await expect(page.locator("html")).toHaveAttribute("dir", "rtl");
    });
  }
});
