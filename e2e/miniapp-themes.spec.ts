import { languages as dictionaries } from "../apps/miniapp/src/locales/languages.ts";
import { analyze } from "./axe.ts";
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
      await page.evaluate((shown) => window.showState(shown), { state, theme, language: "en" });
      const { violations, passedRules } = await analyze(page, ["color-contrast"]);
      found.push(...violations.map((violation) => `${state}: ${violation}`));
      expect(passedRules, state).toBe(1);
    }
    expect(found).toEqual([]);
  });
}

test("a theme that names half of the colours leaves none of the earlier ones", { tag: "@long" }, async ({
  api,
  page,
  stack,
  userId,
}) => {
  const theme = { bg_color: "#ffffff", text_color: "#101010", button_color: "#8774e1", secondary_bg_color: "#f0f0f0" };
  const { miniappUrl } = await newCode(api, userId);
  await page.goto(launchUrl(miniappUrl, userId, stack.secrets, { theme }));
  await page.getByRole("button", { name: "Watch" }).waitFor();
  const change = { eventType: "theme_changed", eventData: { theme_params: { bg_color: "#000000" } } };
  // As a client that frames the app does.
  await page.evaluate((message) => window.postMessage(message, "*"), JSON.stringify(change));
  await expect(page.locator("html")).toHaveCSS("background-color", "rgb(0, 0, 0)");
  expect(await analyze(page, ["color-contrast"])).toEqual({ violations: [], passedRules: 1 });
  await expect(page.locator("html")).toHaveAttribute("data-scheme", "dark");
});

test("in forced colours, each control of the offer and the player has an edge, and the switch its state", async ({
  page,
  gallery,
}) => {
  await page.emulateMedia({ forcedColors: "active" });
  await gallery.open(page);
  for (const state of ["offer", "offer-with-sound", "paused", "watched", "status-credited"]) {
    await page.evaluate((shown) => window.showState(shown), { state, theme: "own", language: "en" });
    const edges = await page
      .locator("button:not(.tap):not(.switch), a.button")
      .evaluateAll((controls) => controls.map((control) => getComputedStyle(control).borderTopWidth));
    expect(edges.length, state).toBeGreaterThan(0);
    expect(edges, state).not.toContain("0px");
  }
  const trackOf = async (state: string) => {
    await page.evaluate((shown) => window.showState(shown), { state, theme: "own", language: "en" });
    return page.locator(".switch").evaluate((button) => getComputedStyle(button, "::before").backgroundColor);
  };
  expect(await trackOf("offer")).not.toBe(await trackOf("offer-with-sound"));
});

test("in forced colours the ring's arc differs from the rest of the ring", async ({ page, gallery }) => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ forcedColors: "active", colorScheme });
    await gallery.open(page);
    await page.evaluate((shown) => window.showState(shown), { state: "playing", theme: "own", language: "en" });
    const picture = (await page.locator(".ring").screenshot({ scale: "css" })).toString("base64");
    // 40 % are watched: the right edge is in the arc, the left one is not.
    const [left, right] = await page.evaluate(lightnessAt, { picture, places: [3, -4] });
    const [darker = 0, lighter = 0] = [Number(left), Number(right)].toSorted((one, other) => one - other);
    expect((lighter + 0.05) / (darker + 0.05), colorScheme).toBeGreaterThan(3);
  }
});

/** Runs in the page: the relative luminance at half the picture's height, so many pixels from its left or right edge. */
async function lightnessAt({ picture, places }: { picture: string; places: number[] }): Promise<number[]> {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const { width, height } = image;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  if (!context) throw new Error("no canvas");
  context.drawImage(image, 0, 0);
  return places.map((place) => {
    const { data } = context.getImageData((place + width) % width, Math.floor(height / 2), 1, 1);
    const [red = 0, green = 0, blue = 0] = [...data].map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  });
}

test("only a word that hardly fits a line is hyphenated", { tag: "@long" }, async ({ page, gallery }) => {
  await gallery.open(page);
  await page.evaluate((shown) => window.showState(shown), { state: "offer", theme: "own", language: "de" });
  // Chromium has no hyphenation of its own on every system: the style decides.
  const style = await page.locator("h1").evaluate((heading) => {
    const computed = getComputedStyle(heading);
    return computed.hyphens === "auto" ? computed.getPropertyValue("hyphenate-limit-chars") : "20";
  });
  expect(Number.parseInt(style, 10)).toBeGreaterThanOrEqual("Belohnungsgutschein".length);
});

const threeParts = <Item>(items: readonly Item[]) =>
  [0, 1, 2].map((part) => items.filter((_, index) => index % 3 === part));
const largeTexts = ["offer-named", "leave-question", "confirming", "watched-named", "status-credited-named"];

for (const { shown, languages, tag } of [
  { shown: largeTexts, languages: ["en", "ru", "uz"], tag: [] },
  ...threeParts(Object.keys(dictionaries)).map((languages) => ({ shown: undefined, languages, tag: "@long" })),
]) {
  test(`with text of double size no word of ${shown?.length ?? "all"} screens is broken in ${languages.join(", ")}`, {
    tag,
  }, async ({ page, gallery }) => {
    test.setTimeout(240_000);
    await page.setViewportSize({ width: 320, height: 640 });
    const all = await gallery.open(page);
    const found: string[] = [];
    for (const language of languages)
      found.push(...(await page.evaluate(faultsOfLargeText, { states: [...(shown ?? all)], language })));
    expect(found).toEqual([]);
  });
}

test("with text of double size no text is over a control of the player", async ({ page, gallery }) => {
  const states = [
    "playing",
    "playing-offline",
    "stalled",
    "blocked",
    "buffering",
    "away",
    "playing-captions",
    "watched",
  ];
  await gallery.open(page);
  const found: string[] = [];
  for (const [width, height] of [
    [320, 568],
    [740, 360],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const language of ["de", "ar"]) {
      for (const state of states) {
        await page.evaluate((shown) => window.showState(shown), { state, theme: "own", language, scale: "2" });
        const faults = await page.evaluate(textsOverControls);
        found.push(...faults.map((fault) => `${width} × ${height} ${language} ${state}: ${fault}`));
      }
    }
  }
  expect(found).toEqual([]);
});

/** Runs in the page: the texts, and the controls that another element's text is over. */
function textsOverControls(): string[] {
  const found: string[] = [];
  const walker = document.createTreeWalker(document.querySelector(".controls") ?? document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement?.closest(".only-heard")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const button of document.querySelectorAll(".controls :is(button, a)")) {
      if (button.contains(node)) continue;
      const box = button.getBoundingClientRect();
      const isOver = [...range.getClientRects()].some(
        ({ left, right, top, bottom }) =>
          left < box.right - 2 && right > box.left + 2 && top < box.bottom - 2 && bottom > box.top + 2,
      );
      if (isOver)
        found.push(`“${node.textContent}” is over ${button.getAttribute("aria-label") ?? button.textContent}`);
    }
  }
  return found;
}

test("with text of double size nothing of a screen is sticky, and both answers of the question are in the window", async ({
  page,
  gallery,
}) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await gallery.open(page);
  const show = (state: string) => {
    const shown = { state, theme: "light", language: "ru", scale: "2" };
    return page.evaluate((shown) => window.showState(shown), shown);
  };
  await show("status-credited");
  await expect(page.locator(".foot")).toHaveCSS("position", "static");
  const expectDialogs = async () => {
    await show("about-targeted");
    await expect(page.getByRole("dialog")).toBeInViewport({ ratio: 1 });
    await show("leave-question");
    await expect(page.getByRole("dialog")).toBeInViewport({ ratio: 1 });
    for (const name of ["Продолжить", "Закрыть и потерять награду"])
      await expect(page.getByRole("dialog").getByRole("button", { name })).toBeInViewport({ ratio: 1 });
  };
  await expectDialogs();
  // As in Safari before 15.4.
  await page.addInitScript(() => {
    for (const name of ["showModal", "show", "close"]) Reflect.deleteProperty(HTMLDialogElement.prototype, name);
  });
  await gallery.open(page);
  await expectDialogs();
});

/** Runs in the page: with text of double size, screens that are too wide, and words, outside of codes, on several lines. */
async function faultsOfLargeText({ states, language }: { states: string[]; language: string }): Promise<string[]> {
  const found: string[] = [];
  for (const state of states) {
    await window.showState({ state, theme: "light", language, scale: "2" });
    if (document.documentElement.scrollWidth > innerWidth) found.push(`${language} ${state} is wider than the window`);
    // A name may be longer than any line.
    if (state.endsWith("-long-names")) continue;
    const shown = document.querySelector("dialog[open]") ?? document.body;
    const walker = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!(node instanceof Text) || node.parentElement?.closest(".only-heard, .support-code")) continue;
      for (const { 0: word, index } of node.data.matchAll(/[^\s-]+/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) found.push(`${language} ${state}: ${word}`);
      }
    }
  }
  return found;
}

test("in a low window the two buttons of a foot are at one height", async ({ page, gallery }) => {
  await gallery.open(page);
  for (const [state, height] of [
    ["status-credited", 360],
    ["status-credited-next-ad-later", 360],
    ["session-over", 360],
    ["code-used", 360],
    ["status-held", 568],
  ] as const) {
    await page.setViewportSize({ width: 740, height });
    await page.evaluate((shown) => window.showState(shown), { state, theme: "light", language: "en" });
    const edges = await page.locator(".foot > *").evaluateAll((buttons) =>
      buttons.map((button) => {
        const { top, bottom } = button.getBoundingClientRect();
        return `${Math.round(top)} to ${Math.round(bottom)}`;
      }),
    );
    expect(new Set(edges).size, `${state}: ${edges}`).toBe(1);
  }
});
