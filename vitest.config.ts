import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.{ts,tsx}"],
    globalSetup: ["packages/postgres/src/test-server.ts"],
    setupFiles: ["scripts/fail-on-console-error.ts"],
    // PGlite takes seconds to make a database, and two cores are all there is.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
