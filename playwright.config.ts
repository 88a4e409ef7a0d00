import { defineConfig, devices } from "@playwright/test";

const executablePath = process.env.CHROMIUM_PATH;

export default defineConfig({
  testDir: "e2e",
  testMatch: "*.spec.ts",
  testIgnore: "long/**",
  grepInvert: /@long/,
  outputDir: "test-results",
  // Each worker runs a whole stack of its own. Two thirds of a flow are waiting, so two cores can run four of them.
  workers: 4,
  // A file's tests need not wait for one another: each has a user of its own, and each worker a bot.
  fullyParallel: true,
  retries: 0,
  forbidOnly: process.env.CI === "true",
  // Three times what a flow takes beside two others; only one that fails waits for so long.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: [["list"]],
  use: {
    ...devices["Pixel 7"],
    // The device's own factor of 2.6 means seven times as many pixels, which is slow without a graphics card.
    deviceScaleFactor: 1,
    locale: "en-US",
    // Traces take a tenth of the time, and a screenshot of each step takes longer than the step. Elsewhere: `--trace on`.
    trace: {
      mode: process.env.CI === "true" ? "retain-on-failure" : "off",
      screenshots: false,
      snapshots: true,
      sources: false,
    },
    launchOptions: {
      ...(executablePath === undefined ? {} : { executablePath }),
      args: [
        "--no-sandbox",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-quic",
        "--mute-audio",
      ],
    },
  },
});
