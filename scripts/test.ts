/**
 * `npm test`: all tests except the long ones, which `npm run test:long` adds. `pnpm test <feature…>`: the unit and
 * integration tests whose path contains one of the words, the long ones included.
 */
import { openTemporaryFolder } from "../packages/testing/src/memory-folder.ts";
import { buildPages } from "./build-miniapp.ts";
import { findBrowser } from "./find-browser.ts";
import { findPostgres } from "./find-postgres.ts";
import { installPrograms } from "./find-programs.ts";
import { runCommand, stopCommands } from "./processes.ts";
import { type Part, runParts } from "./run-parts.ts";
import { explain, step } from "./say.ts";
import { buildStateGallery } from "./state-gallery.ts";
import { timeParts } from "./time-parts.ts";

const { timed, times } = timeParts();
const interruption = new AbortController();

/** The parts name their shares of all processors. */
const limits = { processors: 1, startWithinMs: 20 * 60_000, endWithinMs: 30 * 60_000 };

async function main(): Promise<void> {
  const features = process.argv.slice(2).filter((word) => word !== "--");
  const isWhole = features.length === 0;
  const temporary = openTemporaryFolder();
  try {
    await run(features, temporary.path);
  } finally {
    temporary.remove();
    if (isWhole) console.log(`\n${times()}`);
  }
  if (isWhole) console.log(longTests);
}

async function run(features: readonly string[], temporary: string): Promise<void> {
  const isWhole = features.length === 0;
  const gallery = isWhole ? await timed("builds", () => buildAll(temporary)) : undefined;
  await timed("languages and nginx", () => installPrograms());
  const postgres = await timed("PostgreSQL", () => step("PostgreSQL", findPostgres));
  console.log(`  ${postgres.source}`);
  try {
    const env = {
      TMPDIR: temporary,
      // Tests load many modules: with V8's default for young objects, 16 MB, they take 7 % longer.
      NODE_OPTIONS: `--max-semi-space-size=32 ${process.env.NODE_OPTIONS ?? ""}`,
      TEST_DATABASE_URL: postgres.url,
    };
    if (!isWhole) {
      await runCommand("vitest", ["run", ...features], { stdio: "inherit", env });
      return;
    }
    const browser = await timed("browser", () => step("browser", findBrowser));
    console.log(`  ${browser}`);
    const parts: Part[] = [
      { name: "vitest", processors: 0.6, run: (shown) => shown("vitest", ["run", "--tags-filter=!long"], env) },
      // Tests wait a third of their time, for processes and timeouts; the checks use it.
      { name: "check", processors: 0.4, run: (shown) => shown(process.execPath, ["scripts/check.ts"]) },
      {
        name: "flows",
        processors: 1,
        run: (shown) => shown("playwright", ["test"], { ...env, CHROMIUM_PATH: browser, STATE_GALLERY: gallery }),
      },
    ];
    await runParts(parts, { timed }, limits, { stop: stopCommands, signal: interruption.signal });
  } finally {
    await postgres.stop();
  }
}

/** Returns the folder of the gallery of states. */
async function buildAll(temporary: string): Promise<string> {
  const [gallery, output] = await Promise.all([
    step("gallery of states", () => buildStateGallery(temporary)),
    step("mini-app and console", () => buildPages()),
  ]);
  console.log(sizesOf(output));
  return gallery.folder;
}

const longTests = `
Not included: the tests tagged "long" (all sizes, languages and clients; faults, kills, packaging, waits in real time).
npm run test:long runs them.`;

function sizesOf(buildOutput: string): string {
  return buildOutput
    .split("\n")
    .filter((line) => /gzip/i.test(line))
    .map((line) => line.replace(/^.*?:build:\s*/, "  "))
    .join("\n");
}

// Stopping the commands makes `main` clean up and end.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    interruption.abort();
    stopCommands();
  });
}
main().catch(explain);
