import { defineConfig } from "@playwright/test";
import base from "./playwright.config.ts";

/** Those of e2e/long whose videos play and whose servers are away in real time, which takes few processors. */
const waiting = ["alerts", "another-device", "demo-cheats", "network-torture", "strict-views", "tracker-kills"];
const waitingFiles = waiting.map((name) => `**/${name}.spec.ts`);

// They may run at the same time, and each empties its folder at its start and end.
const outputDir = (name: string) => `test-results/${name}`;

/** The flows that `npm test` leaves out: those of e2e/long, and those of the other files that are tagged. */
export default defineConfig(base, {
  testIgnore: [],
  grepInvert: [],
  // These use more of the processor: faults, kills, and several clients at the same time.
  workers: 3,
  fullyParallel: false,
  projects: [
    {
      name: "long",
      testDir: "e2e/long",
      testIgnore: waitingFiles,
      timeout: 180_000,
      outputDir: outputDir("long"),
    },
    {
      name: "waiting",
      testDir: "e2e/long",
      testMatch: waitingFiles,
      timeout: 180_000,
      outputDir: outputDir("waiting"),
    },
    {
      name: "tagged",
      testDir: "e2e",
      testIgnore: "long/**",
      grep: /@long/,
      // Some look at every screen in every language, beside the other parts of the long set.
      timeout: 180_000,
      outputDir: outputDir("tagged"),
    },
  ],
});
