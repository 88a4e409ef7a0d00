/** `pnpm test:long`: what takes longer than `npm test` may, the kill script above all. Arguments go to the kill script. */
import { buildMiniapp } from "./build-miniapp.ts";
import { findPostgres } from "./find-postgres.ts";
import { runCommand, stopCommands } from "./processes.ts";
import { explain, Problem, step } from "./say.ts";

async function main(): Promise<void> {
  await step("mini-app", buildMiniapp);
  const postgres = await step("PostgreSQL", findPostgres);
  try {
    await runCommand(
      process.execPath,
      ["e2e/kill/kill-servers.ts", "--database", "embedded", ...process.argv.slice(2)],
      {
        stdio: "inherit",
      },
    );
    if (postgres === undefined)
      throw new Problem("The kill script did not run on PostgreSQL.", "Install postgresql, or set TEST_DATABASE_URL.");
    await runCommand(
      process.execPath,
      ["e2e/kill/kill-servers.ts", "--database", postgres.url, ...process.argv.slice(2)],
      {
        stdio: "inherit",
      },
    );
  } finally {
    await postgres?.stop();
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stopCommands);
main().catch(explain);
