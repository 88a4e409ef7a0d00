/**
 * `pnpm bench`: a table of the hot paths. Each is compared with its floor and with a server that writes one row per request,
 * in the same rounds. Figures are medians of the rounds; machines are noisy, so read the ratios. Each server is warmed up
 * before it is measured. The WAL figure excludes most of the full pages that are written after a checkpoint.
 *
 *   pnpm bench [--only code,click,receipt,open,report,close,view,deliveries] [--rounds 5] [--count 20000]
 *     [--store embedded,postgres-socket,postgres-tcp] [--warm 4] [--baseline <revision>]
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { createServerDatabase } from "../packages/testing/src/test-database.ts";
import { findPostgres } from "../scripts/find-postgres.ts";
import { explain } from "../scripts/say.ts";
import { type Baseline, floorTarget, type Store, stackTarget, type Target, unpackBaseline } from "./bench-stack.ts";
import { type Measure, measureClicks } from "./clicks.ts";
import { hasCores, keepOnCores } from "./cores.ts";
import { measureDeliveries } from "./deliveries.ts";
import { medianOf, requireWrk } from "./load.ts";
import { type Measured, mergeMeasured, newMeter } from "./meter.ts";
import { hotShares, openPostgresFigures, type PostgresFigures } from "./postgres-figures.ts";
import { measureReceipts } from "./receipts.ts";
import { perSecond, tableHead, tableLine } from "./table.ts";
import { measureViews, videoSeconds } from "./views.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "code,click,receipt,open,report,close,view,deliveries" },
    rounds: { type: "string", default: "5" },
    count: { type: "string", default: "20000" },
    store: { type: "string", default: "embedded,postgres-socket,postgres-tcp" },
    warm: { type: "string", default: "4" },
    baseline: { type: "string" },
  },
});
const pathKeys = ["code", "click", "receipt", "open", "report", "close", "view", "deliveries"];
const only = new Set(wordsOf("only", pathKeys));
const stores = wordsOf("store", ["embedded", "postgres-socket", "postgres-tcp"]);
const [rounds, count, warmSeconds] = [numberOf("rounds"), numberOf("count"), numberOf("warm")];

function wordsOf(option: "only" | "store", known: readonly string[]): string[] {
  const words = values[option].split(",");
  const unknown = words.filter((word) => !known.includes(word));
  if (unknown.length === 0) return words;
  console.error(`--${option} ${unknown.join(",")} is unknown. Give one or several of: ${known.join(",")}`);
  process.exit(2);
}

function numberOf(option: "rounds" | "count" | "warm"): number {
  if (/^\d{1,7}$/.test(values[option]) && (option === "warm" || Number(values[option]) > 0))
    return Number(values[option]);
  console.error(`--${option} ${values[option]} is not a number. Give a whole number, such as: --${option} 5`);
  process.exit(2);
}

interface Path {
  readonly key: string;
  readonly title: string;
  /** The target: a share of the one-row server's rate. */
  readonly target?: number;
  /** The keys of the measured calls whose sum is this path, such as a whole view. */
  readonly parts?: readonly string[];
}

interface Flow {
  readonly paths: readonly Path[];
  /** The share of `--count`. */
  readonly share: number;
  run(target: Target, count: number, measure: Measure): Promise<void>;
}

const flows: readonly Flow[] = [
  {
    paths: [
      { key: "code", title: "create a code", target: 0.75 },
      { key: "click", title: "first click", target: 0.5 },
    ],
    share: 1,
    run: measureClicks,
  },
  {
    paths: [{ key: "receipt", title: "receipt", target: 0.6 }],
    share: 1,
    run: measureReceipts,
  },
  {
    paths: [
      { key: "open", title: "open a view", target: 0.2 },
      { key: "report", title: "report", target: 0.6 },
      { key: "close", title: "close", target: 0.3 },
      { key: "view", title: "whole view, ten calls", parts: ["open", "report", "close"] },
    ],
    share: 0.2,
    run: measureViews,
  },
];

/** Multiples of the request count: a faster server needs more requests for a round that is long enough. */
const shareOf = { floor: 4, oneRow: 2, ours: 1, baseline: 0.25 };
type Role = keyof typeof shareOf;
type Targets = Partial<Record<Role, Target>>;
type Results = Partial<Record<Role, Measured[]>>;

async function measureStore(name: string, postgres: (PostgresFigures & { url: string }) | undefined, base?: Baseline) {
  const cleanUps: (() => Promise<void>)[] = [];
  const storeFor = async (server: string): Promise<Store> => {
    if (postgres === undefined) return { name };
    const { url, drop } = await createServerDatabase(postgres.url);
    cleanUps.push(async () => {
      if (server !== "one row") await printHot(server, url);
      await drop();
    });
    return { name, databaseUrl: name === "postgres-socket" ? await postgres.socketUrlOf(url) : url };
  };
  const start = async (started: Promise<Target>) => {
    const target = await started;
    keepOnCores(target.pids);
    cleanUps.push(target.stop);
    return target;
  };
  const chosen = flows.filter(({ paths }) => paths.some(({ key }) => only.has(key)));
  try {
    if (chosen.length === 0) return;
    const targets: Targets = {
      floor: await start(floorTarget("floor")),
      oneRow: await start(floorTarget("one row", await storeFor("one row"))),
      ours: await start(stackTarget(name, await storeFor(name), { videoSeconds })),
      ...(base && {
        baseline: await start(stackTarget(base.name, await storeFor(base.name), { videoSeconds, sources: base.root })),
      }),
    };
    console.log(`\n${tableHead()}`);
    for (const flow of chosen) await measureFlow(flow, targets, postgres);
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
  }
}

async function measureFlow(flow: Flow, targets: Targets, postgres: PostgresFigures | undefined): Promise<void> {
  const roles = Object.entries(targets) as [Role, Target][];
  const countFor = (role: Role) => Math.max(64, Math.round(count * flow.share * shareOf[role]));
  for (const [role, target] of roles) await warm(flow, target, countFor(role));
  const results = new Map<string, Results>();
  for (let round = 0; round < rounds; round++) {
    for (const [role, target] of roles) {
      const meter = newMeter(target, role === "floor" ? undefined : postgres);
      await flow.run(target, countFor(role), meter.measure);
      for (const path of flow.paths) {
        const ofPath = results.get(path.key) ?? {};
        results.set(path.key, { ...ofPath, [role]: [...(ofPath[role] ?? []), takenOf(path, meter.taken)] });
      }
    }
  }
  for (const path of flow.paths) if (only.has(path.key)) printPath(path, targets, results.get(path.key) ?? {});
}

/** Repeats the flow with new requests until each of its paths was under load for `warmSeconds`. */
async function warm(flow: Flow, target: Target, requests: number): Promise<void> {
  const meter = newMeter(target, undefined);
  const minSeconds = () => Math.min(...[...meter.taken.values()].map(({ seconds }) => seconds));
  while (warmSeconds > 0 && !(minSeconds() >= warmSeconds && meter.taken.size > 0)) {
    await flow.run(target, requests, meter.measure);
  }
}

function takenOf({ key, parts = [key] }: Path, taken: ReadonlyMap<string, Measured>): Measured {
  const measured = parts.flatMap((part) => taken.get(part) ?? []);
  const [first] = measured;
  if (first === undefined || measured.length < parts.length) throw new Error(`${key} was not measured`);
  return parts.length === 1 ? first : { ...mergeMeasured(measured), answered: first.answered, latencies: new Map() };
}

function printPath({ title, key, target }: Path, targets: Targets, { floor, oneRow, ours, baseline }: Results): void {
  const nameOf = (role: Role) => targets[role]?.name ?? role;
  if (floor) console.log(tableLine({ path: title, server: nameOf("floor"), rounds: floor }));
  if (oneRow) console.log(tableLine({ path: "", server: nameOf("oneRow"), rounds: oneRow, floor }));
  if (baseline) console.log(tableLine({ path: "", server: nameOf("baseline"), rounds: baseline, floor, oneRow }));
  if (!ours) return;
  console.log(tableLine({ path: "", server: nameOf("ours"), rounds: ours, floor, oneRow, baseline, target }));
  if (key === "view") {
    const viewers = medianOf(ours.map(perSecond)) * videoSeconds;
    console.log(`  ${nameOf("ours")}: one node completes the views of ${viewers.toFixed(0)} concurrent viewers`);
  }
}

async function printHot(server: string, url: string): Promise<void> {
  const shares = await hotShares(url);
  const texts = shares.map(({ name, updated, share }) => `${name} ${(share * 100).toFixed(0)} % of ${updated}`);
  if (texts.length > 0) console.log(`  ${server}: HOT updates: ${texts.join(", ")}`);
}

await requireWrk().catch(explain);
const base = values.baseline === undefined ? undefined : await unpackBaseline(values.baseline);
const server = stores.some((store) => store.startsWith("postgres")) ? await findPostgres({ fsync: true }) : undefined;
const figures = server && { ...(await openPostgresFigures(server.url)), url: server.url };
// The settings of a server from TEST_DATABASE_URL are not changed.
const isOurs = figures !== undefined && server?.source !== "TEST_DATABASE_URL";
if (isOurs) {
  figures.keepOnCore();
  await figures.warmUp();
}
console.log(`${rounds} rounds of ${count} requests, 64 connections; every answer after its commit.`);
console.log(
  hasCores
    ? `Server and load have one core, ${figures && !isOurs ? "the given database is where it is" : "the database another"}.`
    : "Nothing is kept on a core: this needs two, and taskset.",
);
console.log(`Load of this machine: ${loadavg()[0]?.toFixed(1)}. Processor time and WAL are for one request or view.\n`);
try {
  for (const store of stores) {
    const postgres = store === "embedded" ? undefined : figures;
    await measureStore(store, postgres, base);
    if (only.has("deliveries")) await measureDeliveries({ store, postgres, rounds, count, base });
  }
} finally {
  await figures?.close();
  await server?.stop();
  base?.remove();
}
