import { defineConfig, devices } from "@playwright/test";

const executablePath = process.env.CHROMIUM_PATH;

export default defineConfig({
  testDir: "e2e",
  testMatch: "*.spec.ts",
  testIgnore: "long/**",
  outputDir: "test-results",
  // Each worker runs a whole stack of its own: two cores carry two of them.
  workers: 2,
  fullyParallel: false,
  retries: 0,
  forbidOnly: process.env.CI === "true",
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  use: {
    ...devices["Pixel 7"],
    // Its own 2.6 would have a machine without a graphics card paint seven times as many pixels.
    deviceScaleFactor: 1,
    locale: "en-US",
    // Pictures of each step cost more than the step.
    trace: { mode: "retain-on-failure", screenshots: false, snapshots: true, sources: false },
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
