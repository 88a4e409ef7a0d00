/**
 * `npm test`: all tests. `pnpm test <feature…>`: the unit and integration tests whose path contains one of the words.
 */
import { buildMiniapp } from "./build-miniapp.ts";
import { findBrowser } from "./find-browser.ts";
import { installLanguages } from "./find-languages.ts";
import { findPostgres } from "./find-postgres.ts";
import { runCommand, stopCommands } from "./processes.ts";
import { explain, step } from "./say.ts";

const startedAt = performance.now();
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
    const vitest = () => runCommand("vitest", ["run", ...features], { stdio: "inherit", env });
    if (!isWhole) {
      await vitest();
      return;
    }
    const browser = await timed("browser", () => step("browser", findBrowser));
    console.log(`  ${browser}\n  Its flows run beside vitest; their results follow those of vitest.`);
    const flows = () => runCommand("playwright", ["test"], { env: { ...env, CHROMIUM_PATH: browser } });
    await endOfAll([timed("vitest", vitest), timed("flows", flows)], console.log);
  } finally {
    await postgres?.stop();
    if (isWhole) console.log(`\n${timesOf(parts)}`);
  }
  if (isWhole && !postgres) console.log(noPostgres);
}

/**
 * Waits for the end of all commands, in their order, and passes their output to `show`. Rejects if one has failed. Flows
 * mostly wait for videos and vitest mostly computes, so together they take less time than one after the other.
 */
async function endOfAll(commands: readonly Promise<string>[], show: (output: string) => void): Promise<void> {
  const faults: unknown[] = [];
  for (const ended of await Promise.allSettled(commands)) {
    if (ended.status === "fulfilled") show(ended.value);
    else faults.push(ended.reason);
  }
  for (const fault of faults.slice(0, -1)) console.error(fault instanceof Error ? fault.message : fault);
  if (faults.length > 0) throw faults.at(-1);
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
  // Parts that run at the same time add up to more than the total.
  return [...parts, { name: "total", seconds: (performance.now() - startedAt) / 1000 }]
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
