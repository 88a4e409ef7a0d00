import { openMailServer } from "../../apps/ad-service/test/fixtures/mail-server.ts";
import { analyze } from "../axe.ts";
import { test as base, expect } from "../console.ts";

type Mails = Awaited<ReturnType<typeof openMailServer>>;

/** With a mail server, which other flows do not have. */
const test = base.extend<object, { mails: Mails }>({
  mails: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the first parameter's destructuring.
    async ({}, use) => {
      const server = await openMailServer();
      await use(server);
      await server.close();
    },
    { scope: "worker" },
  ],
  adServiceEnv: [
    async ({ mails }, use) => {
      await use({ SMTP_URL: mails.url, SMTP_FROM: "ads@demo.example" });
    },
    { scope: "worker" },
  ],
});
test.describe.configure({ mode: "serial" });

for (const { name, width, locale, words } of [
  {
    name: "desk",
    width: 1280,
    locale: "en-US",
    words: {
      save: "Save this report",
      saveIt: "Save",
      name: "Name",
      mails: "Mails of the report Week",
      every: "How often",
      it: "Mail it",
      stop: "Mail it no more",
      undo: "Undo",
      unmailed: "Week is saved again, and is mailed no more: choose its mails anew.",
    },
  },
  {
    name: "phone, in Russian",
    width: 360,
    locale: "ru-RU",
    words: {
      save: "Сохранить отчёт",
      saveIt: "Сохранить",
      name: "Название",
      mails: "Рассылка отчёта Week",
      every: "Как часто",
      it: "Присылать",
      stop: "Больше не присылать",
      undo: "Отменить",
      unmailed: "Отчёт Week сохранён снова, но больше не приходит по почте: настройте рассылку заново.",
    },
  },
]) {
  test.describe(`in the window of a ${name}`, () => {
    test.use({ window: { width, height: 800 }, locale, colorScheme: width === 360 ? "dark" : "light" });
    test("a saved report is mailed each Monday, and no more, in three steps each", async ({ desk, stack: _stack }) => {
      await desk.goto(new URL("/console/reports", desk.url()).href);
      await desk.getByRole("button", { name: words.save }).click();
      await desk.getByLabel(words.name, { exact: true }).fill("Week");
      await desk.getByRole("dialog").getByRole("button", { name: words.saveIt, exact: true }).click();
      const mails = desk.getByRole("button", { name: words.mails });
      await mails.click();
      await desk.getByLabel(words.every).selectOption("week");
      expect((await analyze(desk)).violations).toEqual([]);
      expect(await desk.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      await desk.screenshot({ path: test.info().outputPath("mails.png") });
      await desk.getByRole("dialog").getByRole("button", { name: words.it, exact: true }).click();
      await expect(desk.getByRole("dialog")).toHaveCount(0);
      await mails.click();
      await expect(desk.getByLabel(words.every)).toHaveValue("week");
      await desk.screenshot({ path: test.info().outputPath("mailed.png") });
      await desk.getByRole("button", { name: words.stop }).click();
      await expect(desk.getByRole("dialog")).toHaveCount(0);
      await mails.click();
      await expect(desk.getByLabel(words.every)).toHaveValue("day");
      await expect(desk.getByRole("button", { name: words.stop })).toHaveCount(0);
      await desk.getByRole("dialog").getByRole("button", { name: words.it, exact: true }).click();
      await expect(mails).toHaveClass(/is-mailed/);
      await desk.locator(".saved-report button").last().click();
      await expect(mails).toHaveCount(0);
      // The links of the report's mails are gone, so Undo does not resume the mails.
      await desk.getByRole("button", { name: words.undo }).click();
      await expect(desk.getByText(words.unmailed)).toBeVisible();
      await expect(mails).not.toHaveClass(/is-mailed/);
      await desk.screenshot({ path: test.info().outputPath("unmailed.png") });
      await desk.locator(".saved-report button").last().click();
      await expect(mails).toHaveCount(0);
    });
  });
}
