import { defineConfig } from "@playwright/test";
import base from "./playwright.config.ts";

/** What `npm test` has no time for. */
export default defineConfig(base, { testDir: "e2e/long", testIgnore: [], timeout: 180_000 });
