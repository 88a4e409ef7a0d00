import type { Page } from "@playwright/test";
import { analyze } from "./axe.ts";
import { closeAndGet, launchUrl, stopAtStart } from "./open-miniapp.ts";
import { expect, newCode, test } from "./stack.ts";

const lightTheme = {
  bg_color: "#ffffff",
  text_color: "#000000",
  button_color: "#3390ec",
  button_text_color: "#ffffff",
};

async function expectNoViolations(page: Page, state: string): Promise<void> {
  // Elements that are still fading in have a lower contrast.
  await page.evaluate(async () => {
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ending.map(({ finished }) => finished));
  });
  expect((await analyze(page)).violations, state).toEqual([]);
}

for (const scheme of ["light", "dark"] as const) {
  test.describe(`in ${scheme} colours`, { tag: scheme === "dark" ? "@long" : [] }, () => {
    test.use({ colorScheme: scheme });

    // `npm test` looks at the same screens in the gallery: miniapp-states.spec.ts.
    const name = "offer, player, leave dialog, end and status have no axe violations";
    test(name, { tag: scheme === "dark" ? [] : "@long" }, async ({ api, page, stack, userId }) => {
      const { miniappUrl } = await newCode(api, userId);
      const theme = scheme === "light" ? lightTheme : undefined;
      await stopAtStart(page);
      await page.goto(launchUrl(miniappUrl, userId, stack.secrets, theme ? { theme } : {}));
      await page.getByRole("button", { name: "Watch" }).waitFor();
      await expectNoViolations(page, "offer");
      await page.getByRole("button", { name: "Watch" }).click();
      await page.getByRole("button", { name: "Close", exact: true }).click();
      await expectNoViolations(page, "question");
      await page.getByRole("button", { name: "Resume" }).click();
      await page.getByRole("heading", { name: "You can close now" }).waitFor({ timeout: 20_000 });
      await expectNoViolations(page, "end");
      await closeAndGet(page);
      await page.getByRole("heading", { name: "Reward credited" }).waitFor();
      await expectNoViolations(page, "status");
    });

    test("entry pages, link pages and the chat have no axe violations", async ({ page, stack, userId }) => {
      await page.goto(`${stack.urls.adService}/app/${stack.secrets.botId}`);
      await page.getByRole("heading", { name: "Open this from Telegram" }).waitFor();
      await expectNoViolations(page, "outside Telegram");
      await page.goto(`${stack.urls.adService}/ABCDEFGHJKLMNPQRST`);
      await expectNoViolations(page, "unknown link");
      await page.goto(`${stack.urls.demoBot}/?user=${userId}`);
      await page.getByText("Welcome to Coin Garden").waitFor();
      await expectNoViolations(page, "chat");
      await page.getByRole("button", { name: "What happened" }).click();
      const tab = (name: string) => page.getByRole("tab", { name, exact: true });
      await tab("Timeline").focus();
      await expectNoViolations(page, "timeline");
      // The arrow keys choose a tab, and the next Tab leaves for its panel.
      await page.keyboard.press("ArrowRight");
      await expect(tab("Webhooks")).toBeFocused();
      await page.getByText("Verify a signature yourself").click();
      await expectNoViolations(page, "webhooks");
      await tab("Webhooks").focus();
      await page.keyboard.press("End");
      await expect(tab("Try")).toBeFocused();
      await page.keyboard.press("Tab");
      await expect(page.getByLabel("Scenario")).toBeFocused();
      await expectNoViolations(page, "menus");
    });
  });
}
