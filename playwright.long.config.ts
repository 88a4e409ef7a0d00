import { defineConfig } from "@playwright/test";
import base from "./playwright.config.ts";

/** The flows that `npm test` leaves out: those of e2e/long, and those of the other files that are tagged. */
export default defineConfig(base, {
  testIgnore: [],
  grepInvert: [],
  // These use more of the processor: faults, kills, and several clients at the same time.
  workers: 3,
  fullyParallel: false,
  projects: [
    { name: "long", testDir: "e2e/long", timeout: 180_000 },
    { name: "tagged", testDir: "e2e", testIgnore: "long/**", grep: /@long/ },
  ],
});
