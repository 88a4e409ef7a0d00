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
    ["/ABCDEFGHJKLMNPQR", "هذا الرابط لا يقود إلى أي مكان"],
    ["/app/999", "لا يُعرض شيء هنا"],
  ] as const) {
    test(`gets the service's own page of ${path} in its language, from right to left`, async ({ page, stack }) => {
      await page.goto(`${stack.urls.adService}${path}`);
      await expect(page.getByRole("heading", { name: title })).toBeVisible();
      await expect(page.locator("html")).toHaveAttribute("dir", "rtl");
    });
  }
});
