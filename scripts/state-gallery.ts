import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { root, runCommand } from "./processes.ts";

const ORIGIN = "http://gallery.test";

declare global {
  interface Window {
    /** In the gallery's page: shows one state, its text enlarged by `scale`, and ends its animations. */
    showState: (shown: { state: string; theme: string; language: string; scale?: string }) => Promise<void>;
  }
}

export interface StateGallery {
  readonly folder: string;
  /** Opens the gallery in the page and returns the names of all states. */
  open(page: Page): Promise<string[]>;
  remove(): void;
}

/**
 * Builds the mini-app's gallery of states into a temporary folder. Pages load it from there without a server. `STATE_GALLERY`
 * names the folder of one that is built already: a test run builds it once for all its workers.
 */
export async function buildStateGallery(parent = tmpdir()): Promise<StateGallery> {
  const shared = process.env.STATE_GALLERY;
  if (shared) return galleryIn(shared, () => {});
  const folder = mkdtempSync(join(parent, "intermission-gallery-"));
  const miniapp = join(root, "apps/miniapp");
  const config = join(miniapp, "vite.gallery.config.ts");
  await runCommand(join(miniapp, "node_modules/.bin/vite"), [
    "build",
    miniapp,
    "--config",
    config,
    "--outDir",
    folder,
    "--emptyOutDir",
  ]);
  return galleryIn(folder, () => rmSync(folder, { recursive: true, force: true }));
}

function galleryIn(folder: string, remove: () => void): StateGallery {
  return {
    folder,
    remove,
    async open(page) {
      await page.route(`${ORIGIN}/**`, (route) => {
        const { pathname } = new URL(route.request().url());
        return route.fulfill({ path: join(folder, pathname) });
      });
      await page.goto(`${ORIGIN}/gallery.html#state=opening`);
      await page.waitForFunction(() => document.documentElement.dataset.states !== undefined);
      const states = await page.evaluate(() => document.documentElement.dataset.states ?? "");
      return states.split(" ");
    },
  };
}
