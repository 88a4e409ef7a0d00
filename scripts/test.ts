/**
 * `npm test`: everything. `pnpm test <feature…>`: the unit and integration tests whose path contains one of the words.
 */
import { buildMiniapp } from "./build-miniapp.ts";
import { findBrowser } from "./find-browser.ts";
import { findPostgres } from "./find-postgres.ts";
import { runCommand, stopCommands } from "./processes.ts";
import { explain, step } from "./say.ts";

async function main(): Promise<void> {
  const features = process.argv.slice(2).filter((word) => word !== "--");
  const isWhole = features.length === 0;
  if (isWhole) {
    await runCommand(process.execPath, ["scripts/check.ts"], { stdio: "inherit" });
    console.log(await step("mini-app", buildMiniapp).then(sizesOf));
  }
  const postgres = await step("PostgreSQL", findPostgres);
  console.log(postgres ? `  ${postgres.source}` : noPostgres);
  try {
    const env = postgres ? { TEST_DATABASE_URL: postgres.url } : {};
    await runCommand("vitest", ["run", ...features], { stdio: "inherit", env });
    if (!isWhole) return;
    const browser = await step("browser", findBrowser);
    console.log(`  ${browser}`);
    await runCommand("playwright", ["test"], { stdio: "inherit", env: { ...env, CHROMIUM_PATH: browser } });
  } finally {
    await postgres?.stop();
  }
  if (isWhole && !postgres) console.log(noPostgres);
}

const noPostgres = `
!!! NOT TESTED ON POSTGRESQL: no server can be had on this machine. Only the embedded database was tested.
!!! Install postgresql, or set TEST_DATABASE_URL to a server on which databases may be created.
`;

function sizesOf(buildOutput: string): string {
  return buildOutput
    .split("\n")
    .filter((line) => /gzip/i.test(line))
    .map((line) => line.replace(/^.*?:build:\s*/, "  "))
    .join("\n");
}

// The commands end, and so what was started for them is stopped in its turn.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stopCommands);
main().catch(explain);
