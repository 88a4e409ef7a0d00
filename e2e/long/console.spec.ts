import { analyze } from "../axe.ts";
import { test } from "../console.ts";
import { expect } from "../stack.ts";

test.describe.configure({ mode: "default" });

const screens = ["", "campaigns", "campaigns/new", "bots", "bots/7000000001", "explain?bot=7000000001", "no-such-page"];
const windows = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

for (const colorScheme of ["light", "dark"] as const) {
  for (const [name, size] of Object.entries(windows)) {
    test.describe(`in ${colorScheme} colours, in the window of a ${name}`, () => {
      test.use({ colorScheme, window: size, locale: colorScheme === "dark" ? "ru-RU" : "en-US" });

      test("no screen has axe violations or is wider than its window", async ({ reader }) => {
        const { page } = reader;
        for (const path of screens) {
          await reader.open(path);
          await page.getByRole("heading", { level: 1 }).waitFor();
          await page.waitForLoadState("networkidle");
          expect((await analyze(page)).violations, path).toEqual([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), path).toBe(0);
        }
      });

      test("the finder, the keys and a question have no axe violations, and give the focus back", async ({
        reader,
      }) => {
        const { page } = reader;
        await reader.open("campaigns");
        const duplicate = page.getByRole("button", { name: /^(Duplicate|Копировать:) House link$/ });
        await duplicate.click();
        await page.getByRole("dialog").waitFor();
        expect((await analyze(page)).violations, "dialog").toEqual([]);
        await page.keyboard.press("Escape");
        await expect(duplicate).toBeFocused();
        await page.keyboard.press("Control+k");
        await page.getByRole("dialog").getByRole("combobox").waitFor();
        await page.getByRole("dialog").getByRole("option").first().waitFor();
        expect((await analyze(page)).violations, "finder").toEqual([]);
        await page.keyboard.press("Escape");
        await page.keyboard.press("?");
        await page.getByRole("dialog").waitFor();
        expect((await analyze(page)).violations, "keys").toEqual([]);
      });
    });
  }
}
