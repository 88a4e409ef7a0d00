/**
 * `node bench/footprint.ts`: what a deployment takes. Bundles both servers, starts them with PostgreSQL, and prints the sizes
 * of what is deployed, the time until `/readyz` answers 200, and the memory of each process, idle and under load: 32 users, who
 * each request a code, follow its link, and begin again. Webhooks and ledger entries follow. With `--traced true` the servers
 * send traces to a collector that accepts everything.
 *
 *   node bench/footprint.ts [--rounds 5] [--idle 10] [--seconds 20] [--traced true]
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { companionApi } from "../e2e/kill/companion-api.ts";
import { addressOf, visitHeaders } from "../e2e/kill/earn-events.ts";
import { createServerDatabase } from "../packages/testing/src/test-database.ts";
import { bundleServers } from "../scripts/build.ts";
import { buildPages } from "../scripts/build-miniapp.ts";
import { type DemoStack, startDemoStack } from "../scripts/demo-stack.ts";
import { findPostgres } from "../scripts/find-postgres.ts";
import { freePort, root } from "../scripts/processes.ts";
import { medianOf } from "./load.ts";
import { openPostgresFigures, type PostgresFigures } from "./postgres-figures.ts";
import { processorMilliseconds, residentMegabytes } from "./processor-time.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    idle: { type: "string", default: "10" },
    seconds: { type: "string", default: "20" },
    traced: { type: "string", default: "false" },
  },
});
const [rounds, idleSeconds, loadSeconds] = [numberOf("rounds"), numberOf("idle"), numberOf("seconds")];

function numberOf(option: "rounds" | "idle" | "seconds"): number {
  if (/^[1-9]\d{0,3}$/.test(values[option])) return Number(values[option]);
  console.error(`--${option} ${values[option]} is not a whole number from 1 to 9999, such as: --${option} 5`);
  process.exit(2);
}

const servers = ["ad-service", "api"] as const;
const USERS = 32;

/** The bytes of a file, or of all files of a folder. */
function megabytesOf(path: string): number {
  if (!statSync(path).isDirectory()) return statSync(path).size / 1e6;
  return readdirSync(path).reduce((sum, name) => sum + megabytesOf(join(path, name)), 0);
}

/** What the Dockerfile adds to Node's image. */
function megabytesOfImage(bundles: string): number {
  const dockerfile = readFileSync(join(root, "deploy/Dockerfile"), "utf8");
  const copied = [...dockerfile.matchAll(/^COPY --from=build \/src\/(\S+)/gm)].map(([, path = ""]) => path);
  const placeOf = (path: string) =>
    path.endsWith("/dist") ? join(bundles, path.replace(/^apps\//, "")) : join(root, path);
  return copied.reduce((sum, path) => sum + megabytesOf(placeOf(path)), 0);
}

interface StartTime {
  /** From the start of the process until it is ready. */
  readonly milliseconds: number;
  readonly processorMs: number;
}

async function timeStart(stack: DemoStack, name: (typeof servers)[number]): Promise<StartTime> {
  await stack.servers.get(name)?.stop();
  const url = name === "api" ? stack.urls.api : stack.urls.adService;
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  const startedAt = performance.now();
  const listening = stack.start(name);
  while (!(await isReady())) await sleep(5);
  const milliseconds = performance.now() - startedAt;
  await listening;
  return { milliseconds, processorMs: processorMilliseconds([stack.servers.get(name)?.process.pid ?? 0]) };
}

/** Returns how many links were followed. */
async function clickOnAndOn({ urls, secrets }: DemoStack, user: number, until: number): Promise<number> {
  const api = companionApi(urls.api, secrets.backendApiKey);
  let clicks = 0;
  for (; performance.now() < until; clicks++) {
    const index = user + USERS * clicks;
    const created = await api.createCode(String(1_000_000 + index), "footprint");
    if (created.outcome !== "created") throw new Error(`no code: ${created.reason}`);
    const headers = visitHeaders(addressOf(index));
    const { status } = await fetch(`${urls.adService}/${created.code}`, { redirect: "manual", headers });
    if (status !== 302) throw new Error(`a followed link was answered ${status}`);
  }
  return clicks;
}

/** Accepts whatever a server sends, as a collector does. */
async function startCollector() {
  const server = createServer((request, response) => request.resume().on("end", () => response.end()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

interface Figures {
  readonly starts: readonly StartTime[];
  readonly idle: readonly number[];
  readonly loaded: readonly number[];
  readonly clicks: number;
  /** Processor time of the servers for a click, in milliseconds. */
  readonly processorMs: number;
}

async function measure(stack: DemoStack, postgres: PostgresFigures): Promise<Figures> {
  const starts: StartTime[] = [];
  for (const name of servers) {
    const times: StartTime[] = [];
    for (let round = 0; round < rounds; round++) times.push(await timeStart(stack, name));
    const medianBy = (figure: keyof StartTime) => medianOf(times.map((time) => time[figure]));
    starts.push({ milliseconds: medianBy("milliseconds"), processorMs: medianBy("processorMs") });
  }
  const pids = servers.map((name) => stack.servers.get(name)?.process.pid ?? 0);
  const memory = () => [...pids.map(residentMegabytes), postgres.megabytes()];
  await sleep(idleSeconds * 1000);
  const idle = memory();
  let loaded = idle;
  const watching = setInterval(() => {
    loaded = memory().map((now, at) => Math.max(now, loaded[at] ?? 0));
  }, 500);
  const before = processorMilliseconds(pids);
  const until = performance.now() + loadSeconds * 1000;
  const clicks = await Promise.all(Array.from({ length: USERS }, (_, user) => clickOnAndOn(stack, user, until)));
  clearInterval(watching);
  const sum = clicks.reduce((all, one) => all + one, 0);
  return { starts, idle, loaded, clicks: sum, processorMs: (processorMilliseconds(pids) - before) / sum };
}

async function measureStack(bundles: string, collector: string | undefined): Promise<Figures> {
  const postgres = await findPostgres({ fsync: true });
  const figures = await openPostgresFigures(postgres.url);
  const database = await createServerDatabase(postgres.url);
  const dataDirectory = mkdtempSync(join(tmpdir(), "intermission-footprint-"));
  const traced = collector === undefined ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: collector };
  const shared = { LOG_LEVEL: "warn", ...traced };
  try {
    const stack = await startDemoStack({
      dataDirectory,
      ports: { adService: await freePort(), api: await freePort(), demoBot: await freePort() },
      databaseUrl: database.url,
      video: join(root, "e2e/fixtures/clip-2s.mp4"),
      hasChat: false,
      cooldownSeconds: 0,
      dailyCap: 100,
      programs: Object.fromEntries(servers.map((name) => [name, join(bundles, name, "dist/main.js")])),
      env: {
        "ad-service": { ...shared, TRUST_PROXY: "127.0.0.1", RATE_LIMIT_PER_TOKEN: "1000000" },
        api: shared,
      },
    });
    try {
      return await measure(stack, figures);
    } finally {
      await stack.stop();
    }
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true });
    await database.drop();
    await figures.close();
    await postgres.stop();
  }
}

function print(bundles: string, { starts, idle, loaded, clicks, processorMs }: Figures): void {
  const whole = (value: number | undefined) => (value ?? Number.NaN).toFixed(0);
  const folders = servers.map((name) => `${whole(megabytesOf(join(bundles, name, "dist")))} MB`);
  const seconds = (figure: keyof StartTime) => starts.map((start) => `${(start[figure] / 1000).toFixed(2)} s`);
  console.log(`\n| | ad service | companion API | PostgreSQL |\n|---|---|---|---|`);
  console.log(`| folder | ${folders.join(" | ")} | |`);
  console.log(`| from the start until ready, median of ${rounds} | ${seconds("milliseconds").join(" | ")} | |`);
  console.log(`| of that, processor time | ${seconds("processorMs").join(" | ")} | |`);
  console.log(`| memory, idle | ${idle.map((one) => `${whole(one)} MB`).join(" | ")} |`);
  console.log(`| memory under load, at most | ${loaded.map((one) => `${whole(one)} MB`).join(" | ")} |`);
  console.log(`\nThe image adds ${whole(megabytesOfImage(bundles))} MB to Node's.`);
  console.log(
    `Load: ${whole(clicks / loadSeconds)} clicks a second for ${loadSeconds} s, ${processorMs.toFixed(2)} ms of both servers each. Machine: load ${loadavg()[0]?.toFixed(0)}.`,
  );
}

const bundles = mkdtempSync(join(tmpdir(), "intermission-bundles-"));
const collector = values.traced === "true" ? await startCollector() : undefined;
try {
  if (!["miniapp", "console"].every((page) => existsSync(join(root, "apps", page, "dist/index.html"))))
    await buildPages();
  await bundleServers(bundles);
  print(bundles, await measureStack(bundles, collector?.url));
} finally {
  collector?.close();
  rmSync(bundles, { recursive: true, force: true });
}
