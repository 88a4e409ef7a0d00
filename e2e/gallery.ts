import { test as base } from "@playwright/test";
import { buildStateGallery, type StateGallery } from "../scripts/state-gallery.ts";

export { expect } from "@playwright/test";

/** All screens of the app without a server: only their appearance is tested. */
export const test = base.extend<object, { gallery: StateGallery }>({
  gallery: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the first parameter's destructuring.
    async ({}, use) => {
      const gallery = await buildStateGallery();
      await use(gallery);
      gallery.remove();
    },
    { scope: "worker" },
  ],
});
