import { analyze } from "../axe.ts";
import { expect, test, windows } from "../console.ts";

test.describe.configure({ mode: "default" });

for (const colorScheme of ["light", "dark"] as const) {
  for (const { name, size } of windows) {
    test.describe(`in ${colorScheme} colours, in the window of a ${name}`, () => {
      test.use({ colorScheme, window: size, locale: colorScheme === "dark" ? "ru-RU" : "en-US" });

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
