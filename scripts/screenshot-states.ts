/**
 * `node scripts/screenshot-states.ts [word…]`: writes a screenshot of every state of the mini-app whose name contains one of
 * the words into `screenshots/`, which git ignores: on a phone in light, dark and right-to-left form, on a narrow one, on one turned to landscape, and on a desktop.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { findBrowser } from "./find-browser.ts";
import { root } from "./processes.ts";
import { explain } from "./say.ts";
import { buildStateGallery } from "./state-gallery.ts";

const phone = { width: 360, height: 740 };
const variants = {
  light: { theme: "light", language: "en", viewport: phone },
  dark: { theme: "dark", language: "en", viewport: phone },
  rtl: { theme: "own", language: "fa", viewport: phone },
  narrow: { theme: "light", language: "ru", viewport: { width: 320, height: 568 } },
  landscape: { theme: "dark", language: "en", viewport: { width: 740, height: 360 } },
  desktop: { theme: "light", language: "en", viewport: { width: 1280, height: 740 } },
} as const;

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  const folder = join(root, "screenshots");
  if (words.length === 0) rmSync(folder, { recursive: true, force: true });
  const gallery = await buildStateGallery();
  const browser = await chromium.launch({ executablePath: await findBrowser(), args: ["--no-sandbox"] });
  try {
    for (const [variant, { theme, language, viewport }] of Object.entries(variants)) {
      mkdirSync(join(folder, variant), { recursive: true });
      const page = await browser.newPage({ viewport, deviceScaleFactor: 1, isMobile: true, hasTouch: true });
      const states = await gallery.open(page);
      for (const state of states.filter((name) => words.length === 0 || words.some((word) => name.includes(word)))) {
        await page.evaluate((wanted) => window.showState(wanted), { state, theme, language });
        await page.screenshot({ path: join(folder, variant, `${state}.png`) });
      }
      await page.close();
    }
  } finally {
    await browser.close();
    gallery.remove();
  }
  console.log(`screenshots are in ${folder}`);
}

main().catch(explain);
