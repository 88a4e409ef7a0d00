/**
 * `node scripts/screenshot-states.ts [word…]`: writes a screenshot of every state of the mini-app whose name contains one of
 * the words into `screenshots/`, which git ignores: on a phone in light, dark and right-to-left form, on a narrow one, on one
 * turned to landscape, with text of double size, in forced colours, and on a desktop.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { findBrowser } from "./find-browser.ts";
import { root } from "./processes.ts";
import { explain } from "./say.ts";
import { buildStateGallery } from "./state-gallery.ts";

const phone = { width: 360, height: 740 };
interface Variant {
  theme: "light" | "dark" | "own";
  language: string;
  viewport: { width: number; height: number };
  textScale?: number;
  /** The system replaces the page's colours, as Windows' contrast themes do. */
  isForced?: boolean;
}

const variants: Record<string, Variant> = {
  light: { theme: "light", language: "en", viewport: phone },
  dark: { theme: "dark", language: "en", viewport: phone },
  rtl: { theme: "own", language: "fa", viewport: phone },
  narrow: { theme: "light", language: "ru", viewport: { width: 320, height: 568 } },
  large: { theme: "light", language: "ru", viewport: { width: 320, height: 640 }, textScale: 2 },
  forced: { theme: "own", language: "en", viewport: phone, isForced: true },
  landscape: { theme: "dark", language: "en", viewport: { width: 740, height: 360 } },
  desktop: { theme: "light", language: "en", viewport: { width: 1280, height: 740 } },
};

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  const folder = join(root, "screenshots");
  if (words.length === 0) rmSync(folder, { recursive: true, force: true });
  const gallery = await buildStateGallery();
  const browser = await chromium.launch({ executablePath: await findBrowser(), args: ["--no-sandbox"] });
  try {
    for (const [variant, { theme, language, viewport, textScale = 1, isForced = false }] of Object.entries(variants)) {
      mkdirSync(join(folder, variant), { recursive: true });
      const page = await browser.newPage({ viewport, deviceScaleFactor: 1, isMobile: true, hasTouch: true });
      if (isForced) await page.emulateMedia({ forcedColors: "active" });
      const states = await gallery.open(page);
      for (const state of states.filter((name) => words.length === 0 || words.some((word) => name.includes(word)))) {
        await page.evaluate((shown) => window.showState(shown), { state, theme, language, scale: String(textScale) });
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
