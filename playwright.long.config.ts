import { defineConfig } from "@playwright/test";
import base from "./playwright.config.ts";

/** Tests that take too long for `npm test`. */
export default defineConfig(base, { testDir: "e2e/long", testIgnore: [], timeout: 180_000 });
