import { pageLanguages } from "@intermission/ad-core/page-language";
import { analyzeStates } from "./axe.ts";
import { expect, test } from "./stack.ts";

test.use({ isMobile: false });

const light = { theme: "light", language: "en" };
const dark = { theme: "dark", language: "en" };

/** The other rules do not depend on the window: each theme and each direction is examined by them once. */
const contrast = ["color-contrast"];

for (const { name, shown, width, rules } of [
  { name: "in light colours, 320 px wide", shown: light, width: 320, rules: undefined },
  { name: "in dark colours, 1280 px wide", shown: dark, width: 1280, rules: undefined },
  { name: "from right to left", shown: { theme: "own", language: "ar" }, width: 320, rules: undefined },
  { name: "in light colours, 1280 px wide", shown: light, width: 1280, rules: contrast },
  { name: "in dark colours, 320 px wide", shown: dark, width: 320, rules: contrast },
]) {
  const what = rules?.join() ?? "axe";
  test(`${name}, no state has a violation of ${what}`, { tag: "@long" }, async ({ page, gallery }) => {
    await page.setViewportSize({ width, height: 740 });
    const states = await gallery.open(page);
    expect(await analyzeStates(page, { states, shown, rules })).toEqual([]);
  });
}

test.describe("on the narrowest phone", () => {
  test.use({ viewport: { width: 320, height: 568 } });

  for (const language of pageLanguages) {
    // From right to left: miniapp-covered-text.spec.ts.
    const tag = language === "en" ? [] : "@long";
    test(`nothing overflows, and no word breaks, in ${language}`, { tag }, async ({ page, gallery }) => {
      const states = await gallery.open(page);
      const found = await page.evaluate(layoutFaults, { states, language });
      expect(await page.locator("html").getAttribute("lang")).toBe(language);
      // Names that are too long for any screen do break, which proves that the check detects breaks.
      const expected = found.filter((fault) => /^[\w-]+-(long-names|named-long): broken/.test(fault));
      expect(expected.length).toBeGreaterThan(0);
      expect(found.filter((fault) => !expected.includes(fault))).toEqual([]);
    });
  }
});

for (const reducedMotion of ["no-preference", "reduce"] as const) {
  test(`the success moment, where motion is ${reducedMotion}`, async ({ page, gallery }) => {
    await page.emulateMedia({ reducedMotion });
    await gallery.open(page);
    const endings = await page.evaluate(async () => {
      location.hash = "#state=status-credited&theme=light&language=en";
      while (!document.querySelector(".celebrated")) await new Promise(requestAnimationFrame);
      return document.getAnimations().map(({ effect }) => Number(effect?.getComputedTiming().endTime));
    });
    if (reducedMotion === "reduce") expect(endings).toEqual([]);
    else {
      expect(endings.length).toBeGreaterThan(0);
      expect(Math.max(...endings)).toBeLessThan(1000);
    }
  });
}

/** Runs in the page. */
async function layoutFaults({ states, language }: { states: string[]; language: string }): Promise<string[]> {
  const faults: string[] = [];
  for (const state of states) {
    await window.showState({ state, theme: "light", language });
    if (document.documentElement.scrollWidth > innerWidth) faults.push(`${state}: scrolls sideways`);
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      if (node.parentElement?.closest(".only-heard, .chip-name, script")) continue;
      for (const { 0: word, index } of (node.textContent ?? "").matchAll(/[^\s\-–—/]+/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const boxes = [...range.getClientRects()].filter(({ width }) => width > 0);
        if (new Set(boxes.map(({ top }) => Math.round(top / 8))).size > 1) faults.push(`${state}: broken: ${word}`);
        if (boxes.some(({ left, right }) => left < 0 || right > innerWidth)) faults.push(`${state}: outside: ${word}`);
      }
    }
  }
  return faults;
}
