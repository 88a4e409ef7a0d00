/** `pnpm test:long`: tests that take too long for `npm test`, mainly short runs of the kill scripts. */
import { fileURLToPath } from "node:url";
import { buildMiniapp } from "./build-miniapp.ts";
import { findBrowser } from "./find-browser.ts";
import { findPostgres } from "./find-postgres.ts";
import { runCommand, stopCommands } from "./processes.ts";
import { explain, Problem, step } from "./say.ts";

const fullLength = new URL("../apps/ad-service/test/faults/run-full-length.ts", import.meta.url);

async function main(): Promise<void> {
  await step("webhook timeouts at full length", () => runCommand(process.execPath, [fileURLToPath(fullLength)]));
  await step("a million forged webhooks", () =>
    runCommand("vitest", ["run", "forge-webhook"], { env: { LONG_TESTS: "true" } }),
  );
  await step("200 kills of a webhook receiver", () =>
    runCommand("vitest", ["run", "killed-receiver"], { env: { LONG_TESTS: "true" } }),
  );
  await step("the embedded store's upkeep under load", () =>
    runCommand("vitest", ["run", "embedded-upkeep"], { env: { LONG_TESTS: "true" } }),
  );
  await step("mini-app", buildMiniapp);
  const browser = await step("browser", findBrowser);
  await runCommand("playwright", ["test", "--config", "playwright.long.config.ts"], {
    stdio: "inherit",
    env: { CHROMIUM_PATH: browser },
  });
  const postgres = await step("PostgreSQL", findPostgres);
  try {
    const kill = (script: string, ...options: string[]) =>
      runCommand(process.execPath, [`e2e/kill/${script}.ts`, ...options], { stdio: "inherit" });
    await kill("random-kills", "--store", "pglite", "--runs", "16");
    if (postgres === undefined)
      throw new Problem("The kill scripts did not run on PostgreSQL.", "Install postgresql, or set TEST_DATABASE_URL.");
    const bothStores = { TEST_STORES: "both", TEST_DATABASE_URL: postgres.url };
    const atFullLength = ["malformed-requests", "roll-up-statistics", "judge-signature", "pacing", "clicks-of-address"];
    await step("tests of `npm test` with larger numbers", () =>
      runCommand("vitest", ["run", ...atFullLength], { env: { ...bothStores, LONG_TESTS: "true" } }),
    );
    const long = { LONG_TESTS: "true", TEST_DATABASE_URL: postgres.url };
    await step("the ledger compared with its model", () =>
      runCommand("vitest", ["run", "ledger-model"], { env: long }),
    );
    await step("a database that is cut off for 10 s", () =>
      runCommand("vitest", ["run", "lost-connections"], { env: long }),
    );
    await kill("many-nodes", "--runs", "24");
  } finally {
    await postgres?.stop();
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stopCommands);
main().catch(explain);
