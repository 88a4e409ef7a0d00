/**
 * `pnpm bench`: one table of the hot paths, each beside its floor in the same run. Figures are medians of the rounds;
 * machines are noisy, so read the ratios. "One row" is the floor with the least of a store: about the most to be reached.
 *
 *   pnpm bench [--rounds 3] [--count 10000] [--only codes,links,receipts,deliveries]
 */
import { parseArgs } from "node:util";
import { createServerDatabase } from "../packages/postgres/src/test-database.ts";
import { findPostgres } from "../scripts/find-postgres.ts";
import { type BenchStack, benchStack, type Store, startFloor } from "./bench-stack.ts";
import { createCodes } from "./codes.ts";
import { measureDeliveries } from "./deliveries.ts";
import { followLinks } from "./direct-links.ts";
import { type LoadPath, type LoadResult, load, median } from "./load.ts";
import { receiveWebhooks } from "./receipts.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    count: { type: "string", default: "10000" },
    only: { type: "string", default: "codes,links,receipts,deliveries" },
  },
});
const rounds = Number(values.rounds);
const count = Number(values.count);
const only = new Set(values.only.split(","));

type MakePath = (stack: BenchStack, count: number, round: number) => Promise<LoadPath>;

const paths: [name: string, key: string, makePath: MakePath][] = [
  ["create a code", "codes", createCodes],
  ["follow a link, first click", "links", followLinks],
  ["receipt verified and booked", "receipts", receiveWebhooks],
];

function row(path: string, store: string, result: LoadResult, floor?: LoadResult): string {
  const ratio = floor ? (result.perSecond / floor.perSecond).toFixed(2) : "";
  const milliseconds = (value: number) => (Number.isNaN(value) ? "" : value.toFixed(1));
  const figures = [
    result.perSecond.toFixed(0),
    milliseconds(result.p50Milliseconds),
    milliseconds(result.p99Milliseconds),
  ];
  return `| ${path.padEnd(28)} | ${store.padEnd(10)} | ${figures.map((figure) => figure.padStart(8)).join(" | ")} | ${ratio.padStart(5)} |`;
}

const middle = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
/** A delivery has no caller that waits for it. */
const withoutLatency = (perSecond: number): LoadResult => ({
  ...{ perSecond, p50Milliseconds: Number.NaN, p99Milliseconds: Number.NaN },
});

/** Webhooks to endpoints that answer quickly, as usual, and slowly. */
async function measureSending(store: Store): Promise<void> {
  for (const delayMs of [1, 20, 200]) {
    const floor: number[] = [];
    const ours: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const sent = await measureDeliveries(store, { count: delayMs > 100 ? Math.min(count, 4000) : count, delayMs });
      floor.push(sent.floor.perSecond);
      ours.push(sent.ours.perSecond);
    }
    const floorResult = withoutLatency(middle(floor));
    console.log(row(`deliver, answered in ${delayMs} ms`, "floor", floorResult));
    console.log(row("", store.name, withoutLatency(middle(ours)), floorResult));
  }
}

async function measureStore(store: Store): Promise<void> {
  if (paths.some(([, key]) => only.has(key))) await measurePaths(store);
  if (only.has("deliveries")) await measureSending(store);
}

/** On a server in a database of its own: nothing of an earlier run is there, and nothing stays. */
async function measurePaths({ name: storeName, databaseUrl: serverUrl }: Store): Promise<void> {
  const cleanUps: (() => Promise<void>)[] = [];
  try {
    const database = serverUrl === undefined ? undefined : await createServerDatabase(serverUrl);
    if (database) cleanUps.push(database.drop);
    const store: Store = { name: storeName, ...(database && { databaseUrl: database.url }) };
    const stack = await benchStack(store);
    cleanUps.push(stack.stop);
    const floor = await startFloor();
    cleanUps.push(floor.stop);
    const oneRow = await startFloor(store);
    cleanUps.push(oneRow.stop);
    for (const [name, key, makePath] of paths) {
      if (!only.has(key)) continue;
      const results: Record<"floor" | "oneRow" | "ours", LoadResult[]> = { floor: [], oneRow: [], ours: [] };
      for (let round = 0; round < rounds; round++) {
        const path = await makePath(stack, count, round);
        results.floor.push(await load({ ...path, origin: floor.url }, count));
        results.oneRow.push(await load({ ...path, origin: oneRow.url }, count));
        results.ours.push(await load(path, count));
      }
      const floorResult = median(results.floor);
      console.log(row(name, "floor", floorResult));
      console.log(row("", "one row", median(results.oneRow), floorResult));
      console.log(row("", storeName, median(results.ours), floorResult));
    }
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
  }
}

console.log(`${rounds} rounds of ${count} requests, 64 connections; every answer after its commit.\n`);
console.log("| path                         | store      |    per s |   p50 ms |   p99 ms | ratio |");
console.log("|------------------------------|------------|---------:|---------:|---------:|------:|");
await measureStore({ name: "PGlite" });
const postgres = await findPostgres();
if (postgres === undefined) {
  console.log("\nPostgreSQL was not measured: no server can be had here.");
} else {
  try {
    await measureStore({ name: "PostgreSQL", databaseUrl: postgres.url });
  } finally {
    await postgres.stop();
  }
}
