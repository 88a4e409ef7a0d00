/**
 * `pnpm bench`: one table of the hot paths, each beside its floor in the same run. Figures are medians of the rounds;
 * machines are noisy, so read the ratios.
 *
 *   pnpm bench [--rounds 3] [--count 10000] [--only codes,links,receipts,deliveries]
 */
import { parseArgs } from "node:util";
import { findPostgres } from "../scripts/find-postgres.ts";
import { type BenchStack, benchStack, type Store, startFloor } from "./bench-stack.ts";
import { measureCodes } from "./codes.ts";
import { measureDeliveries } from "./deliveries.ts";
import { measureLinks } from "./direct-links.ts";
import { type LoadResult, median } from "./load.ts";
import { measureReceipts } from "./receipts.ts";

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

export interface Measured {
  readonly floor: LoadResult;
  readonly ours: LoadResult;
}
type Measure = (stack: BenchStack, floorUrl: string, count: number, round: number) => Promise<Measured>;

const paths: [name: string, key: string, measure: Measure][] = [
  ["create a code", "codes", measureCodes],
  ["follow a link, first click", "links", measureLinks],
  ["receipt verified and booked", "receipts", measureReceipts],
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

async function measurePaths(store: Store): Promise<void> {
  const stack = await benchStack(store);
  const floor = await startFloor();
  try {
    for (const [name, key, measure] of paths) {
      if (!only.has(key)) continue;
      const results: Measured[] = [];
      for (let round = 0; round < rounds; round++) results.push(await measure(stack, floor.url, count, round));
      const floorResult = median(results.map((result) => result.floor));
      console.log(row(name, "floor", floorResult));
      console.log(row("", store.name, median(results.map((result) => result.ours)), floorResult));
    }
  } finally {
    await floor.stop();
    await stack.stop();
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
