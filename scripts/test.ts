/**
 * `npm test`: all tests. `pnpm test <feature…>`: the unit and integration tests whose path contains one of the words.
 */
import { buildMiniapp } from "./build-miniapp.ts";
import { findBrowser } from "./find-browser.ts";
import { installLanguages } from "./find-languages.ts";
import { findPostgres } from "./find-postgres.ts";
import { runCommand, stopCommands } from "./processes.ts";
import { explain, step } from "./say.ts";

const parts: { readonly name: string; readonly seconds: number }[] = [];

async function main(): Promise<void> {
  const features = process.argv.slice(2).filter((word) => word !== "--");
  const isWhole = features.length === 0;
  if (isWhole) {
    await timed("check", () => runCommand(process.execPath, ["scripts/check.ts"], { stdio: "inherit" }));
    console.log(await timed("mini-app", () => step("mini-app", buildMiniapp).then(sizesOf)));
  }
  await timed("languages", installLanguages);
  const postgres = await timed("PostgreSQL", () => step("PostgreSQL", findPostgres));
  console.log(postgres ? `  ${postgres.source}` : noPostgres);
  try {
    const env = postgres ? { TEST_DATABASE_URL: postgres.url } : {};
    await timed("vitest", () => runCommand("vitest", ["run", ...features], { stdio: "inherit", env }));
    if (!isWhole) return;
    const browser = await timed("browser", () => step("browser", findBrowser));
    console.log(`  ${browser}`);
    const flows = { ...env, CHROMIUM_PATH: browser };
    await timed("flows", () => runCommand("playwright", ["test"], { stdio: "inherit", env: flows }));
  } finally {
    await postgres?.stop();
    if (isWhole) console.log(`\n${timesOf(parts)}`);
  }
  if (isWhole && !postgres) console.log(noPostgres);
}

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  try {
    return await work();
  } finally {
    parts.push({ name, seconds: (performance.now() - startedAt) / 1000 });
  }
}

function timesOf(parts: readonly { name: string; seconds: number }[]): string {
  const total = parts.reduce((sum, { seconds }) => sum + seconds, 0);
  return [...parts, { name: "total", seconds: total }]
    .map(({ name, seconds }) => `${name.padEnd(12)}${seconds.toFixed(1).padStart(7)} s`)
    .join("\n");
}

const noPostgres = `
!!! NOT TESTED ON POSTGRESQL: no server is available on this machine. Only the embedded database was tested.
!!! Install postgresql, or set TEST_DATABASE_URL to a server on which databases may be created.
`;

function sizesOf(buildOutput: string): string {
  return buildOutput
    .split("\n")
    .filter((line) => /gzip/i.test(line))
    .map((line) => line.replace(/^.*?:build:\s*/, "  "))
    .join("\n");
}

// Stopping the commands makes `main` clean up and end.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stopCommands);
main().catch(explain);
