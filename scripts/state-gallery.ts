import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { root, runCommand } from "./processes.ts";

const ORIGIN = "http://gallery.test";

export interface ShownState {
  readonly state: string;
  readonly theme: "own" | "light" | "dark";
  readonly language: string;
}

export interface StateGallery {
  /** Opens the gallery in the page and tells the names of all states. */
  open(page: Page): Promise<string[]>;
  /** Shows one state and waits until nothing moves any more. */
  show(page: Page, shown: ShownState): Promise<void>;
  remove(): void;
}

/** Builds the mini-app's gallery of states into a temporary folder. Pages get it from there; no server runs. */
export async function buildStateGallery(): Promise<StateGallery> {
  const folder = mkdtempSync(join(tmpdir(), "intermission-gallery-"));
  const miniapp = join(root, "apps/miniapp");
  const config = join(miniapp, "vite.gallery.config.ts");
  await runCommand(join(miniapp, "node_modules/.bin/vite"), [
    ...["build", miniapp, "--config", config, "--outDir", folder, "--emptyOutDir"],
  ]);
  return {
    async open(page) {
      await page.route(`${ORIGIN}/**`, (route) => {
        const { pathname } = new URL(route.request().url());
        return route.fulfill({ path: join(folder, pathname) });
      });
      await page.goto(`${ORIGIN}/gallery.html#state=opening`);
      await page.waitForFunction(() => document.documentElement.dataset.shown !== undefined);
      const states = await page.evaluate(() => document.documentElement.dataset.states ?? "");
      return states.split(" ");
    },
    async show(page, shown) {
      const hash = `#${new URLSearchParams({ ...shown })}`;
      await page.evaluate((wanted) => {
        location.hash = wanted;
      }, hash);
      await page.waitForFunction((wanted) => document.documentElement.dataset.shown === wanted, hash);
      await page.evaluate(() => {
        for (const animation of document.getAnimations()) {
          if (animation.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY) animation.finish();
        }
      });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
