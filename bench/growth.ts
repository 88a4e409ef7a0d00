/**
 * `node bench/growth.ts`: whether the hot paths stay as fast when the store grows, and when ad services are added. Stores with
 * so many codes, issued over so many days and filled by SQL, are measured in turn in the same rounds; on the first one also
 * several ad services behind a load balancer without sessions. A store has what is kept by the usual settings: all codes of
 * 28 days; with more days those of the last 30, and of the rest what stays. Prints the medians of the rounds, their ratios to
 * the first store, and the bytes that a click and a view leave.
 *
 *   node bench/growth.ts [--codes 10000,200000,1000000] [--days 28] [--nodes 1,2,3] [--rounds 3] [--count 4000]
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { startTemporaryCluster } from "../packages/testing/src/temporary-cluster.ts";
import { createServerDatabase } from "../packages/testing/src/test-database.ts";
import { measureClicks } from "./clicks.ts";
import { deliverQueue, type Sender, senderOf, startSink } from "./deliveries.ts";
import { fillStore } from "./growth/fill-store.ts";
import { filledPeriod } from "./growth/filled-period.ts";
import { growthHead, growthLine } from "./growth/growth-table.ts";
import { balanced, type GrowingStack, growingStack, targetOf } from "./growth/growth-target.ts";
import { measureOperatorReports } from "./growth/operator-reports.ts";
import { bytesOfStore } from "./growth/store-size.ts";
import { loadGenerator } from "./load.ts";
import { type Measured, newMeter } from "./meter.ts";
import { openPostgresFigures } from "./postgres-figures.ts";
import { measureReceipts } from "./receipts.ts";
import { measureViews } from "./views.ts";

/** A user's latest code is in the last quarter of the days, and viewers who are idle for 90 days are not kept. */
const MAX_DAYS = 360;

const { values } = parseArgs({
  options: {
    codes: { type: "string", default: "10000,200000,1000000" },
    days: { type: "string", default: "28" },
    nodes: { type: "string", default: "1,2,3" },
    rounds: { type: "string", default: "3" },
    count: { type: "string", default: "4000" },
  },
});
const [sizes, nodeCounts] = [numbersOf("codes"), numbersOf("nodes")];
const [[rounds = 0], [count = 0], [days = 0]] = [numbersOf("rounds"), numbersOf("count"), numbersOf("days")];
if (days > MAX_DAYS) {
  console.error(
    `--days ${days} is too long: users would be idle for longer than they are kept. Give at most ${MAX_DAYS}.`,
  );
  process.exit(2);
}

function numbersOf(option: keyof typeof values): number[] {
  const words = values[option].split(",");
  if (words.every((word) => /^[1-9]\d{0,8}$/.test(word))) return words.map(Number);
  console.error(
    `--${option} ${values[option]} is not a list of numbers. Give one or several, such as: --${option} 1,2`,
  );
  process.exit(2);
}

/** A store with as many ad services as are measured on it. */
interface Candidate {
  readonly name: string;
  readonly growing: GrowingStack;
  readonly nodes: number;
  /** Of webhooks, which are measured with one ad service. */
  readonly sender?: Sender;
}

const settings = [
  // Tables are filled without a log; the log of the measured statements is the same.
  "wal_level=minimal",
  "max_wal_senders=0",
  "shared_buffers=4GB",
  "max_wal_size=16GB",
  "checkpoint_timeout=1h",
];
const cluster = await startTemporaryCluster({ settings });
const figures = await openPostgresFigures(cluster.url);
const stacks: GrowingStack[] = [];
const sink = await startSink();
try {
  console.log(`${rounds} rounds of ${count} requests by ${await loadGenerator()}; load of the machine ${load()}`);
  const candidates: Candidate[] = [];
  for (const codes of sizes) {
    const { url } = await createServerDatabase(cluster.url);
    const growing = await growingStack({ name: `${codes} codes`, databaseUrl: await figures.socketUrlOf(url) });
    stacks.push(growing);
    await fill(growing, codes);
    const sender = await senderOf(growing.stack, sink);
    candidates.push({ name: `${codes} codes`, growing, nodes: 1, sender });
  }
  const [first] = stacks;
  for (const nodes of nodeCounts.filter((one) => one > 1)) {
    if (first === undefined) break;
    while (first.nodes.length < nodes) await first.addNode();
    candidates.push({ name: `${nodes} ad services`, growing: first, nodes });
  }
  figures.keepOnCore();
  await figures.warmUp();
  await measureRounds(candidates);
  if (first !== undefined) await printBytes(first);
} finally {
  for (const stack of stacks.reverse()) await stack.stop();
  await sink.stop();
  await figures.close();
  await cluster.stop();
}

function load(): string {
  return loadavg()[0]?.toFixed(1) ?? "";
}

async function fill({ databaseUrl, stack }: GrowingStack, codes: number): Promise<void> {
  const began = performance.now();
  const period = filledPeriod({ codes, days });
  const { keptCodes } = await fillStore({ databaseUrl, botId: stack.secrets.botId, period });
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  const { adService, api } = await bytesOfStore(databaseUrl);
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
  console.log(
    `${codes} codes of ${days} days, of which ${keptCodes} are kept, filled in ${seconds} s: ` +
      `ad service ${megabytes(adService)} MB, companion API ${megabytes(api)} MB`,
  );
}

async function measureRounds(candidates: readonly Candidate[]): Promise<void> {
  const results = new Map<string, Map<string, Measured[]>>();
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (const candidate of candidates) {
      const taken = await measureOnce(candidate);
      if (round === 0) continue;
      for (const [path, measured] of taken) {
        const ofPath = results.get(path) ?? new Map<string, Measured[]>();
        ofPath.set(candidate.name, [...(ofPath.get(candidate.name) ?? []), measured]);
        results.set(path, ofPath);
      }
    }
    console.log(`round ${round} of ${rounds}, load of the machine ${load()}`);
  }
  console.log(`\n${growthHead()}`);
  for (const [path, ofPath] of results) {
    const [base] = ofPath.values();
    for (const [name, measured] of ofPath) {
      console.log(growthLine({ path, name, rounds: measured, base: base === measured ? undefined : base }));
    }
  }
}

async function measureOnce({ name, growing, nodes, sender }: Candidate): Promise<ReadonlyMap<string, Measured>> {
  const target = targetOf(growing, name, nodes);
  const { measure, taken } = newMeter(target, figures, balanced(growing, nodes));
  await measureClicks(target, count, measure);
  if (nodes === 1) await measureReceipts(target, count, measure);
  await measureViews(target, Math.ceil(count / 5), measure);
  await measureOperatorReports(growing, measure);
  if (sender === undefined) return taken;
  const webhooks = Math.ceil(count / 100) * sink.ports.length;
  const delivered = await deliverQueue(sender, { sink, delayMs: 1, count: webhooks, postgres: figures });
  return new Map([...taken, ["webhook", delivered]]);
}

/** What rows of the servers' tables and their indexes need, with what PostgreSQL leaves free in their pages. */
async function printBytes(growing: GrowingStack): Promise<void> {
  const target = targetOf(growing, "", 1);
  const { measure } = newMeter(target, undefined);
  const grownBy = async (each: number, work: () => Promise<void>) => {
    const before = await bytesOfStore(growing.databaseUrl);
    await work();
    const after = await bytesOfStore(growing.databaseUrl);
    const bytes = after.adService - before.adService + after.api - before.api;
    return `${(bytes / each / 1000).toFixed(1)} kB`;
  };
  const [clicks, views] = [count * 2, count];
  console.log(`\na code with its click: ${await grownBy(clicks, () => measureClicks(target, clicks, measure))}`);
  console.log(`a code with its view of 30 s: ${await grownBy(views, () => measureViews(target, views, measure))}`);
  console.log(
    `a receipt with its ledger entry: ${await grownBy(clicks, () => measureReceipts(target, clicks, measure))}`,
  );
}
