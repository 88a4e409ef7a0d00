import { AxeBuilder } from "@axe-core/playwright";
import { launchUrl } from "./open-miniapp.ts";
import { expect, newCode, test } from "./stack.ts";

/** Those of the gallery that the client's colours paint. */
const states = ["offer", "leave-question", "no-ad", "crashed", "status-credited-named", "status-refused-test"];
const quickThemes = ["two-pages"];

for (const theme of [
  ...quickThemes,
  "dim",
  "dark-page-only",
  "light",
  "dark",
  "one-colour",
  "light-text-only",
  "yellow-button-only",
]) {
  const tag = quickThemes.includes(theme) ? [] : "@long";
  test(`with the theme “${theme}” every text and control can be read`, { tag }, async ({ page, gallery }) => {
    await gallery.open(page);
    const found: string[] = [];
    for (const state of states) {
      await page.evaluate((wanted) => window.showState(wanted), { state, theme, language: "en" });
      const { violations, passes } = await new AxeBuilder({ page }).withRules("color-contrast").analyze();
      found.push(...violations.flatMap(({ nodes }) => nodes.map(({ target }) => `${state}: ${target}`)));
      expect(passes.length, state).toBe(1);
    }
    expect(found).toEqual([]);
  });
}

test("a theme that names half of the colours leaves none of the earlier ones", async ({ api, page, stack, userId }) => {
  const theme = { bg_color: "#ffffff", text_color: "#101010", button_color: "#8774e1", secondary_bg_color: "#f0f0f0" };
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets, { theme }));
  await page.getByRole("button", { name: "Watch" }).waitFor();
  const change = { eventType: "theme_changed", eventData: { theme_params: { bg_color: "#000000" } } };
  // As a client that frames the app does.
  await page.evaluate((message) => window.postMessage(message, "*"), JSON.stringify(change));
  await expect(page.locator("html")).toHaveCSS("background-color", "rgb(0, 0, 0)");
  const { violations } = await new AxeBuilder({ page }).withRules("color-contrast").analyze();
  expect(violations).toEqual([]);
  await expect(page.locator("html")).toHaveAttribute("data-scheme", "dark");
});

test("in forced colours, each control of the offer and the player has an edge, and the switch its state", async ({
  page,
  gallery,
}) => {
  await page.emulateMedia({ forcedColors: "active" });
  await gallery.open(page);
  for (const state of ["offer", "offer-with-sound", "paused", "watched", "status-credited"]) {
    await page.evaluate((wanted) => window.showState(wanted), { state, theme: "own", language: "en" });
    const edges = await page
      .locator("button:not(.tap):not(.switch), a.button")
      .evaluateAll((controls) => controls.map((control) => getComputedStyle(control).borderTopWidth));
    expect(edges.length, state).toBeGreaterThan(0);
    expect(edges, state).not.toContain("0px");
  }
  const trackOf = async (state: string) => {
    await page.evaluate((wanted) => window.showState(wanted), { state, theme: "own", language: "en" });
    return page.locator(".switch").evaluate((button) => getComputedStyle(button, "::before").backgroundColor);
  };
  expect(await trackOf("offer")).not.toBe(await trackOf("offer-with-sound"));
});

test("with text of double size nothing of a screen is sticky, and no word of the end card's pill is broken", async ({
  page,
  gallery,
}) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await gallery.open(page);
  const show = (state: string) =>
    page.evaluate((wanted) => window.showState(wanted), { state, theme: "light", language: "ru", scale: "2" });
  await show("status-credited");
  await expect(page.locator(".foot")).toHaveCSS("position", "static");
  await show("watched");
  const words = await page.locator(".pill-text").evaluate((pill) => {
    const text = pill.firstChild as Text;
    return [...text.data.matchAll(/\S+/g)].map(({ 0: word, index }) => {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      return range.getClientRects().length;
    });
  });
  expect(words).toEqual(words.map(() => 1));
});
