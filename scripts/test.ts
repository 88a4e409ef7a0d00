/**
 * `npm test`: all tests except the long ones, which `npm run test:long` adds. `pnpm test <feature…>`: the unit and
 * integration tests whose path contains one of the words, the long ones included.
 */
import { openTemporaryFolder } from "../packages/testing/src/memory-folder.ts";
import { buildPages } from "./build-miniapp.ts";
import { findBrowser } from "./find-browser.ts";
import { findPostgres } from "./find-postgres.ts";
import { installPrograms } from "./find-programs.ts";
import { stopCommands } from "./processes.ts";
import { explain, step } from "./say.ts";
import { buildStateGallery } from "./state-gallery.ts";
import { timeParts } from "./time-parts.ts";

const { timed, shown, times } = timeParts();

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
      await shown("vitest", "vitest", ["run", ...features], env);
      return;
    }
    const finding = timed("browser", () => step("browser", findBrowser));
    const checking = shown("check", process.execPath, ["scripts/check.ts"]);
    await sideBySide([finding, checking, shown("vitest", "vitest", ["run", "--tags-filter=!long"], env)]);
    const browser = await finding;
    console.log(`  ${browser}`);
    await shown("flows", "playwright", ["test"], { ...env, CHROMIUM_PATH: browser, STATE_GALLERY: gallery });
  } finally {
    await postgres.stop();
  }
}

/** Tests wait a third of their time, for processes and timeouts; the checks use it. The first failure stops the others. */
async function sideBySide(works: readonly Promise<unknown>[]): Promise<void> {
  try {
    await Promise.all(works);
  } catch (error) {
    stopCommands();
    await Promise.allSettled(works);
    throw error;
  }
}

/** Returns the folder of the gallery of states. */
async function buildAll(temporary: string): Promise<string> {
  const [gallery, output] = await Promise.all([
    step("gallery of states", () => buildStateGallery(temporary)),
    step("mini-app and console", buildPages),
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
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stopCommands);
main().catch(explain);
