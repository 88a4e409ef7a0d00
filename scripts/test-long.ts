/** `npm run test:long`: the tests that `npm test` leaves out, some others with larger numbers, and the kill scripts. */
import { fileURLToPath } from "node:url";
import { buildPages } from "./build-miniapp.ts";
import { findBrowser } from "./find-browser.ts";
import { findPostgres } from "./find-postgres.ts";
import { installPrograms } from "./find-programs.ts";
import { runCommand, stopCommands } from "./processes.ts";
import { explain, Problem, step } from "./say.ts";
import { buildStateGallery } from "./state-gallery.ts";
import { timeParts } from "./time-parts.ts";

const fullLength = fileURLToPath(new URL("../apps/ad-service/test/faults/run-full-length.ts", import.meta.url));
const { timed, shown, times } = timeParts();

/** Tests without the test server; their numbers are larger with LONG_TESTS. */
const withoutServer = {
  "a million forged webhooks": ["forge-webhook"],
  "200 kills of a webhook receiver": ["killed-receiver"],
  "kills and concurrent starts of the embedded store": ["cluster-kills"],
  "power cuts": ["power-cuts"],
};
const enlarged = ["malformed-requests", "roll-up-statistics", "judge-signature", "pacing", "clicks-of-address"];
const onServer = {
  "the ledger compared with its model": ["ledger-model"],
  "the money of two nodes compared with what happened": ["money-on-two-nodes"],
  "a database that is cut off for 10 s": ["lost-connections"],
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
  const words = [...Object.values(withoutServer), enlarged, ...Object.values(onServer)].flat();
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

async function inTurn<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  for (const item of items) await work(item);
}

async function run(): Promise<void> {
  await assertAllEnlargedRun();
  const node = process.execPath;
  const long = { LONG_TESTS: "true" };
  await timed("languages, proxies, containers", () => installPrograms({ forLongTests: true }));
  // Parts that wait more than they compute run side by side, here and below.
  await Promise.all([
    shown("webhook timeouts at full length", node, [fullLength]),
    inTurn(Object.entries(withoutServer), ([name, files]) => shown(name, "vitest", ["run", ...files], long)),
  ]);
  await timed("mini-app and console", () => step("mini-app and console", buildPages));
  const browser = await timed("browser", () => step("browser", findBrowser));
  const gallery = await timed("gallery of states", () => step("gallery of states", () => buildStateGallery()));
  try {
    const env = { CHROMIUM_PATH: browser, STATE_GALLERY: gallery.folder };
    const flows = ["test", "--config", "playwright.long.config.ts", "--project"];
    await shown("flows", "playwright", [...flows, "long"], env);
    // As many at a time as in npm test: they are more sizes and languages of its flows.
    await shown("flows in all sizes and languages", "playwright", [...flows, "tagged", "--workers", "4"], env);
  } finally {
    gallery.remove();
  }
  await Promise.all([
    shown("kills on the embedded store", node, ["e2e/kill/random-kills.ts", "--store", "embedded", "--runs", "5"]),
    shown("a rolling update and its rollback", node, ["e2e/kill/rolling-upgrade.ts"]),
  ]);
  // Each takes half a minute; the script kills five times by itself.
  await shown("failovers under Patroni", node, ["e2e/kill/failover.ts", "--kills", "2"]);
  await Promise.all([
    shown("jumps of the database's clock", node, ["e2e/kill/clock-jumps.ts"]),
    shown("a backup under load", node, ["e2e/kill/backup-under-load.ts"]),
  ]);
  await Promise.all([
    shown("races of two nodes", node, ["e2e/kill/two-node-races.ts", "--rounds", "4"]),
    shown("stores moved there and back", node, ["e2e/kill/move-stores.ts"]),
  ]);
  const postgres = await timed("PostgreSQL", () => step("PostgreSQL", findPostgres));
  try {
    const server = { TEST_DATABASE_URL: postgres.url };
    await shown("vitest", "vitest", ["run", "--tags-filter=long && !enlarged"], server);
    const larger = { "vitest with larger numbers": enlarged, ...onServer };
    await Promise.all([
      inTurn(Object.entries(larger), ([name, files]) =>
        shown(name, "vitest", ["run", ...files], { ...server, ...long }),
      ),
      shown("kills of many nodes", node, ["e2e/kill/many-nodes.ts", "--runs", "5"]),
    ]);
  } finally {
    await postgres.stop();
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stopCommands);
main().catch(explain);
