/**
 * `npm run test:long`: the tests that `npm test` leaves out, some others with larger numbers, and the kill scripts.
 * `npm run test:long kills races`: only the parts whose name contains one of the words.
 */
import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { buildPages } from "./build-miniapp.ts";
import { findBrowser } from "./find-browser.ts";
import { installPrograms } from "./find-programs.ts";
import { runCommand, stopCommands } from "./processes.ts";
import { type Part, runParts } from "./run-parts.ts";
import { explain, Problem, step } from "./say.ts";
import { buildStateGallery } from "./state-gallery.ts";
import { timeParts } from "./time-parts.ts";

const { timed, times } = timeParts();
const interruption = new AbortController();

/** New random inputs in each run; to repeat one, set the number that it printed. */
process.env.PROPERTY_SEED ??= String(randomInt(1, 2 ** 31));

const node = process.execPath;
const fullLength = fileURLToPath(new URL("../apps/ad-service/test/faults/run-full-length.ts", import.meta.url));
const long = { LONG_TESTS: "true" };

const limits = {
  // A little more than there are: the numbers below are averages.
  processors: availableParallelism() * 1.1,
  startWithinMs: 30 * 60_000,
  endWithinMs: 34 * 60_000,
};

/** A script that starts servers and kills them. */
const script = (name: string, processors: number, words: readonly string[]): Part => ({
  name,
  processors,
  run: (shown) => shown(node, words),
});

const kills = [
  // It waits for Patroni most of the time; the script kills five times by itself.
  script("failovers under Patroni", 0.5, ["e2e/kill/failover.ts", "--kills", "1", "--cut"]),
  script("a rolling update and its rollback", 0.6, ["e2e/kill/rolling-upgrade.ts"]),
  script("kills on the embedded store", 0.5, ["e2e/kill/random-kills.ts", "--store", "embedded", "--runs", "5"]),
  script("rewards after a restart of any part", 0.4, ["e2e/kill/flow-after-restart.ts"]),
  script("kills of many nodes", 0.6, ["e2e/kill/many-nodes.ts", "--runs", "5"]),
  script("a backup under load", 0.6, ["e2e/kill/backup-under-load.ts"]),
  script("races of two nodes", 0.6, ["e2e/kill/two-node-races.ts", "--rounds", "4"]),
  script("stores moved there and back", 0.7, ["e2e/kill/move-stores.ts"]),
  script("jumps of the database's clock", 0.2, ["e2e/kill/clock-jumps.ts"]),
  script("webhook timeouts at full length", 0.1, [fullLength]),
];

/** Files of tests whose numbers are larger with LONG_TESTS. */
const enlarged: readonly { name: string; processors: number; files: readonly string[] }[] = [
  { name: "the money of two nodes compared with what happened", processors: 1, files: ["money-on-two-nodes"] },
  { name: "the ledger compared with its model", processors: 1, files: ["ledger-model"] },
  {
    name: "vitest with larger numbers",
    processors: 1,
    files: ["malformed-requests", "roll-up-statistics", "judge-signature", "pacing", "clicks-of-address"],
  },
  { name: "200 kills of a webhook receiver", processors: 1, files: ["killed-receiver"] },
  { name: "kills and concurrent starts of the embedded store", processors: 1, files: ["cluster-kills"] },
  { name: "a million forged webhooks", processors: 1, files: ["forge-webhook"] },
  { name: "a database that is cut off for 10 s", processors: 0.5, files: ["lost-connections"] },
  { name: "power cuts", processors: 1, files: ["power-cuts"] },
];

/** By the projects of playwright.long.config.ts. */
function flows(env: NodeJS.ProcessEnv): Part[] {
  const words = ["test", "--config", "playwright.long.config.ts", "--project"];
  return [
    { name: "flows", processors: 1.5, run: (shown) => shown("playwright", [...words, "long"], env) },
    {
      name: "flows that wait",
      processors: 0.7,
      run: (shown) => shown("playwright", [...words, "waiting", "--workers", "2"], env),
    },
    {
      name: "flows in all sizes and languages",
      processors: 1.5,
      run: (shown) => shown("playwright", [...words, "tagged"], env),
    },
  ];
}

/** This run of Vitest and each of those below start a PostgreSQL of their own. */
const longTests: Part = {
  name: "vitest",
  processors: 1.5,
  run: (shown) => shown("vitest", ["run", "--tags-filter=long && !enlarged"]),
};

function enlargedTests(withProperties: readonly string[]): Part[] {
  const many = { PROPERTY_RUNS: "1000" };
  return [
    ...enlarged.map(
      ({ name, processors, files }): Part => ({
        name,
        processors,
        run: (shown) => shown("vitest", ["run", ...files], long),
      }),
    ),
    {
      name: "properties",
      processors: 1.5,
      run: (shown) => shown("vitest", ["run", "--tags-filter=!long", ...withProperties], many),
    },
  ];
}

/** `npm run check` compiles its pages; this bundles them, which takes as long as all other checks. */
const documentationSite: Part = {
  name: "documentation site",
  processors: 1,
  async run(shown) {
    await shown(node, ["scripts/write-site-pages.ts"]);
    await shown(node, ["docs/node_modules/vitepress/bin/vitepress.js", "build", "docs"]);
  },
};

async function main(): Promise<void> {
  try {
    await run();
  } finally {
    console.log(`\n${times()}`);
  }
}

/** A file with the tag `enlarged` runs only as one of the parts above. */
async function assertAllEnlargedRun(): Promise<void> {
  const tagged = await runCommand("git", ["grep", "-l", "^// @module-tag enlarged", "--", "*.test.ts"]);
  const words = enlarged.flatMap(({ files }) => files);
  const left = tagged
    .trim()
    .split("\n")
    .filter((file) => !words.some((word) => file.includes(word)));
  if (left.length > 0)
    throw new Problem(
      `No part of this script runs ${left.join(", ")}.`,
      "Name it there, or remove its tag `enlarged`.",
    );
}

/** The files with properties, but those that have a part of their own. */
async function filesWithProperties(): Promise<string[]> {
  const listed = await runCommand("git", ["grep", "-l", 'from "fast-check"', "--", "*.test.ts", "*.test.tsx"]);
  const enlargedFiles = await runCommand("git", ["grep", "-l", "^// @module-tag enlarged", "--", "*.test.ts"]);
  const others = new Set(enlargedFiles.trim().split("\n"));
  return listed
    .trim()
    .split("\n")
    .filter((file) => !others.has(file));
}

function chosen(parts: readonly Part[]): readonly Part[] {
  const words = process.argv.slice(2).filter((word) => word !== "--");
  for (const word of words)
    if (!parts.some(({ name }) => name.includes(word)))
      throw new Problem(`No part's name contains "${word}".`, `They are: ${parts.map(({ name }) => name).join("; ")}.`);
  return words.length === 0 ? parts : parts.filter(({ name }) => words.some((word) => name.includes(word)));
}

async function run(): Promise<void> {
  await assertAllEnlargedRun();
  // What they are run with is known once it is built.
  const env: Record<string, string> = {};
  // The largest first, which leave the same room: the others fill it.
  const parts = chosen([
    ...flows(env),
    longTests,
    ...kills,
    ...enlargedTests(await filesWithProperties()),
    documentationSite,
  ]);
  console.log(`PROPERTY_SEED=${process.env.PROPERTY_SEED}`);
  await timed("languages, proxies, containers", () => installPrograms());
  await timed("mini-app and console", () => step("mini-app and console", () => buildPages()));
  const browser = await timed("browser", () => step("browser", findBrowser));
  const gallery = await timed("gallery of states", () => step("gallery of states", () => buildStateGallery()));
  Object.assign(env, { CHROMIUM_PATH: browser, STATE_GALLERY: gallery.folder });
  try {
    await runParts(parts, { timed }, limits, { stop: stopCommands, signal: interruption.signal });
  } finally {
    gallery.remove();
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    interruption.abort();
    stopCommands();
  });
}
main().catch(explain);
