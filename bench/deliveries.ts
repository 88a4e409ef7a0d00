import { setTimeout as sleep } from "node:timers/promises";
import { createServerDatabase } from "../packages/testing/src/test-database.ts";
import { freePort, runCommand, startServer } from "../scripts/processes.ts";
import { type Baseline, type BenchStack, benchStack, pidsOf } from "./bench-stack.ts";
import { clicksOf, codeOf, codesOf, newUsers } from "./clicks.ts";
import { keepBesideDatabase, keepOnCores, onServerCore } from "./cores.ts";
import { load } from "./load.ts";
import type { Measured } from "./meter.ts";
import { addBenchBot, operate } from "./operate.ts";
import type { PostgresFigures } from "./postgres-figures.ts";
import { processorMilliseconds } from "./processor-time.ts";
import { tableHead, tableLine } from "./table.ts";

/** Each publisher has one endpoint, which accepts eight concurrent webhooks. */
const publishers = 50;
const maxInFlight = 8;
const delays: [milliseconds: number, target: number][] = [
  [1, 0.65],
  [20, 0.75],
  [200, 0.9],
];

interface DeliveriesOptions {
  readonly store: string;
  readonly postgres: (PostgresFigures & { url: string }) | undefined;
  readonly rounds: number;
  readonly count: number;
  readonly base: Baseline | undefined;
}

/** A stack whose bots have one endpoint each. */
interface Sender {
  readonly stack: BenchStack;
  readonly bots: readonly { botId: string; token: string }[];
}

/** The endpoints of the bots of all senders, one of which sends at a time. */
interface Sink {
  readonly ports: readonly number[];
  /** The address to post to, in order to start counting. */
  countFromNow(sending: { delayMs: number; count: number }): string;
  figures(): Promise<{ answered: number; perSecond: number }>;
  stop(): Promise<void>;
}

/** The webhooks of one round, and the source of the figures for their cost. */
interface Sending {
  readonly sink: Sink;
  readonly delayMs: number;
  readonly count: number;
  readonly postgres: PostgresFigures | undefined;
}

/**
 * Measures webhooks per second to endpoints that answer after a delay: for events that were held until their endpoints were
 * enabled, and for clicks that are delivered immediately. The floor is undici alone, in a separate process, to the same
 * endpoints.
 */
export async function measureDeliveries(options: DeliveriesOptions): Promise<void> {
  const { store, postgres, base } = options;
  const cleanUps: (() => Promise<void>)[] = [];
  try {
    const sink = await startSink();
    cleanUps.push(sink.stop);
    const startSender = async (name: string, sources?: string): Promise<Sender & { name: string }> => {
      const database = postgres && (await createServerDatabase(postgres.url));
      if (database) cleanUps.push(database.drop);
      const isOverSocket = store === "postgres-socket" && database;
      const databaseUrl = isOverSocket ? await postgres?.socketUrlOf(database.url) : database?.url;
      const stack = await benchStack(
        { name, ...(databaseUrl !== undefined && { databaseUrl }) },
        { ...(sources !== undefined && { sources }) },
      );
      cleanUps.push(stack.stop);
      keepOnCores(pidsOf(stack));
      return { name, ...(await senderOf(stack, sink)) };
    };
    const senders = [...(base ? [await startSender(base.name, base.root)] : []), await startSender(store)];
    console.log(`\n${tableHead()}`);
    for (const [delayMs, target] of delays) {
      const count = Math.round(options.count / (delayMs > 100 ? 5 : 2) / publishers) * publishers;
      const sending = { sink, delayMs, count, postgres };
      await measureDelay(options, { sending, senders, target });
    }
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp();
  }
}

/** Adds a bot for each endpoint to a stack. */
async function senderOf(stack: BenchStack, sink: Sink): Promise<Sender> {
  const botOf = (port: number, at: number) => ({
    botId: String(8_000_000_000 + at),
    webhookUrl: `http://127.0.0.1:${port}/hook`,
    maxInFlight,
  });
  return { stack, bots: await Promise.all(sink.ports.map((port, at) => addBenchBot(stack, botOf(port, at)))) };
}

async function measureDelay(
  options: DeliveriesOptions,
  { sending, senders, target }: { sending: Sending; senders: readonly (Sender & { name: string })[]; target: number },
): Promise<void> {
  const { delayMs } = sending;
  const floor: Measured[] = [];
  const queued = new Map<string, Measured[]>(senders.map(({ name }) => [name, []]));
  const atOnce = new Map<string, Measured[]>(senders.map(({ name }) => [name, []]));
  // The first round warms up.
  for (let round = -1; round < options.rounds; round++) {
    const sent = await sendAlone(sending);
    if (round >= 0) floor.push(sent);
    for (const sender of senders) {
      const ofQueue = await deliverQueue(sender, sending);
      if (round >= 0) queued.get(sender.name)?.push(ofQueue);
      if (delayMs > 1) continue;
      const ofClicks = await deliverAtOnce(sender, sending);
      if (round >= 0) atOnce.get(sender.name)?.push(ofClicks);
    }
  }
  console.log(tableLine({ path: `deliver, ${delayMs} ms`, server: "undici alone", rounds: floor }));
  const baseline = options.base && queued.get(options.base.name);
  for (const [server, measured] of queued) {
    const isBaseline = measured === baseline;
    const compared = isBaseline ? {} : { baseline, target };
    console.log(tableLine({ path: "", server, rounds: measured, floor, ...compared }));
  }
  for (const [server, measured] of delayMs > 1 ? [] : atOnce) {
    const comparedWith = options.base && server !== options.base.name ? atOnce.get(options.base.name) : undefined;
    console.log(tableLine({ path: "click, immediate delivery", server, rounds: measured, baseline: comparedWith }));
  }
}

async function sendAlone({ sink, delayMs, count }: Sending): Promise<Measured> {
  const countFromNow = sink.countFromNow({ delayMs, count });
  await fetch(countFromNow, { method: "POST" });
  const env = { PORTS: sink.ports.join(","), COUNT: String(count), COUNT_FROM_NOW: countFromNow };
  const output = await runCommand(...onServerCore(process.execPath, ["bench/delivery-floor.ts"]), { env });
  const { answered, perSecond } = await sink.figures();
  const costs = { postgresMilliseconds: Number.NaN, walBytes: Number.NaN, ...JSON.parse(output) };
  return { ...costs, answered, seconds: answered / perSecond, latencies: new Map() };
}

/** Measures from the moment when the endpoints are enabled. */
async function deliverQueue(sender: Sender, sending: Sending): Promise<Measured> {
  const forEach = (call: string, body: object) =>
    Promise.all(sender.bots.map(({ botId }) => operate(sender.stack, "POST", `/endpoints/${botId}/${call}`, body)));
  await forEach("disable", {});
  await load(clicksOf(sender.stack, await codesFor(sender, sending.count)));
  return measureSending(sender, sending, () => forEach("enable", { skipTest: true }));
}

async function deliverAtOnce(sender: Sender, sending: Sending): Promise<Measured> {
  const clicks = clicksOf(sender.stack, await codesFor(sender, sending.count));
  return measureSending(sender, sending, () => load(clicks));
}

async function codesFor({ stack, bots }: Sender, count: number): Promise<string[]> {
  const loads = bots.map((bot) => codesOf({ urls: stack.urls, bot }, newUsers(count / bots.length)));
  const [first] = loads;
  if (first === undefined) return [];
  return (await load({ ...first, requests: loads.flatMap(({ requests }) => requests) })).bodies.map(codeOf);
}

async function measureSending(
  { stack }: Sender,
  { sink, delayMs, count, postgres }: Sending,
  begin: () => Promise<unknown>,
): Promise<Measured> {
  const costs = async () => ({
    nodeMilliseconds: processorMilliseconds(pidsOf(stack)),
    postgresMilliseconds: postgres?.processorMilliseconds() ?? Number.NaN,
    walBytes: (await postgres?.walBytes()) ?? Number.NaN,
  });
  await fetch(sink.countFromNow({ delayMs, count }), { method: "POST" });
  const before = await costs();
  await begin();
  let { answered, perSecond } = await sink.figures();
  for (const until = Date.now() + 300_000; answered < count; { answered, perSecond } = await sink.figures()) {
    if (Date.now() > until) throw new Error(`${answered} of ${count} webhooks came within 300 s`);
    await sleep(50);
  }
  // Wait until the last answers are recorded.
  await sleep(300);
  const after = await costs();
  const { answered: all } = await sink.figures();
  if (all !== count) throw new Error(`${all} webhooks came for ${count} events`);
  return {
    answered,
    seconds: answered / perSecond,
    latencies: new Map(),
    nodeMilliseconds: after.nodeMilliseconds - before.nodeMilliseconds,
    postgresMilliseconds: after.postgresMilliseconds - before.postgresMilliseconds,
    walBytes: after.walBytes - before.walBytes,
  };
}

async function startSink(): Promise<Sink> {
  const ports = await Promise.all(Array.from({ length: publishers }, () => freePort()));
  const controlPort = await freePort();
  const env = { PORTS: ports.join(","), CONTROL_PORT: String(controlPort) };
  const server = startServer("endpoints", "bench/sink-server.ts", env);
  await server.ready;
  // Beside the database, since the sender alone is compared.
  if (server.process.pid !== undefined) keepBesideDatabase(server.process.pid);
  const control = `http://127.0.0.1:${controlPort}`;
  return {
    ports,
    countFromNow: ({ delayMs, count }) => `${control}/?delayMs=${delayMs}&expected=${count}`,
    figures: async () => (await fetch(control)).json(),
    stop: server.stop,
  };
}
