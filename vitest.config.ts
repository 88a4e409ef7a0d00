import { configDefaults, defineConfig } from "vitest/config";

/** These tests check all statements loaded in their process, or set globals of a page that modules read when they load. */
const alone = ["apps/*/test/plans.test.ts", "apps/miniapp/src/**/*.test.{ts,tsx}"];

export default defineConfig({
  test: {
    globalSetup: ["packages/testing/src/test-server.ts"],
    // Vitest would wait one second, which a busy machine needs for a single answer.
    expect: { poll: { timeout: 20_000 } },
    setupFiles: [
      "scripts/fail-on-console-error.ts",
      "scripts/wait-for-slow-machines.ts",
      "packages/testing/src/property-seeds.ts",
    ],
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // A third of the time is waiting, for processes, timeouts and the database: two cores can run three workers.
    maxWorkers: 3,
    tags: [
      { name: "long", description: "Runs in `npm run test:long`, not in `npm test`: see CONTRIBUTING.md." },
      {
        name: "enlarged",
        description: "The files that scripts/test-long.ts runs with larger numbers, as parts of their own.",
      },
    ],
    projects: [
      { extends: true, test: { name: "alone", include: alone } },
      {
        extends: true,
        test: {
          name: "together",
          include: [
            "packages/*/src/**/*.test.ts",
            "apps/*/{src,test,build}/**/*.test.ts",
            "clients/*/*.test.ts",
            "examples/*.test.ts",
            "scripts/*.test.ts",
          ],
          exclude: [...configDefaults.exclude, ...alone],
          // Loading a server's modules again for each file takes longer than most files run.
          isolate: false,
        },
      },
    ],
  },
});
