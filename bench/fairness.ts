/**
 * Measures whether a dead endpoint delays the others: endpoints get events at a steady pace, once alone, and once together
 * with an endpoint that accepts connections, never answers, and has 10,000 queued events; 200 endpoints in total. Prints the
 * time from the commit of an event to its arrival, medians of the rounds.
 *
 *   node bench/fairness.ts [--rounds 3] [--seconds 10]      (TEST_DATABASE_URL, or a temporary PostgreSQL)
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { migrations } from "../apps/ad-service/src/migrations.ts";
import { makeUpcomingPartitions } from "../apps/ad-service/src/retention/keep-partitions.ts";
import { openDeliveryFixture, startTestDelivery } from "../apps/ad-service/test/fixtures/delivery-fixture.ts";
import { openDatabase } from "../packages/postgres/src/open-database.ts";
import { createServerDatabase } from "../packages/testing/src/test-database.ts";
import { findPostgres } from "../scripts/find-postgres.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "10" },
    store: { type: "string", default: "postgres" },
  },
});
const endpoints = 199;
const queuedForTheDead = 10_000;
const eventsASecond = 200;

const postgres = values.store === "postgres" ? await findPostgres({ fsync: true }) : undefined;

async function measure(hasDeadEndpoint: boolean): Promise<{ p50: number; p95: number }> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "intermission-bench-"));
  const server = postgres && (await createServerDatabase(postgres.url));
  const database = await openDatabase({
    databaseUrl: server?.url,
    dataDirectory,
    schema: "ad_service",
    migrations,
  });
  await makeUpcomingPartitions(database, new Date());
  const madeAt = new Map<string, number>();
  const arrivedAt = new Map<string, number>();
  const living = createServer((request, response) => {
    arrivedAt.set(String(request.headers["webhook-id"]), performance.now());
    request.resume().once("end", () => response.end());
  }).listen(0, "127.0.0.1");
  const dead = createTcpServer((socket) => socket.on("error", () => {})).listen(0, "127.0.0.1");
  await Promise.all([living, dead].map((server) => once(server, "listening")));
  const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;

  const fixtures: Awaited<ReturnType<typeof openDeliveryFixture>>[] = [];
  for (let index = 0; index < endpoints; index++) {
    fixtures.push(await openDeliveryFixture(database, { webhookUrl: urlOf(living) }));
  }
  const silent = await openDeliveryFixture(database, { webhookUrl: urlOf(dead) });
  if (hasDeadEndpoint) for (let made = 0; made < queuedForTheDead; made += 1000) await silent.enqueue(1000);
  const delivery = startTestDelivery(database, { pollMs: 2000, sweepMs: 5000, drainMs: 0 });
  await sleep(2000);

  const end = performance.now() + Number(values.seconds) * 1000;
  for (let index = 0; performance.now() < end; index++) {
    const startedAt = performance.now();
    const [eventId = ""] = (await fixtures[index % endpoints]?.enqueue(1, { by: delivery.deliveries })) ?? [];
    madeAt.set(eventId, performance.now());
    await sleep(Math.max(0, 1000 / eventsASecond - (performance.now() - startedAt)));
  }
  const giveUpAt = performance.now() + 30_000;
  while (arrivedAt.size < madeAt.size && performance.now() < giveUpAt) await sleep(50);
  if (arrivedAt.size < madeAt.size) throw new Error(`${madeAt.size - arrivedAt.size} events did not arrive`);
  await delivery.stop();
  living.closeAllConnections();
  living.close();
  dead.close();
  await database.close();
  await server?.drop();
  rmSync(dataDirectory, { recursive: true, force: true });
  // An event can arrive before the answer to its commit.
  const latencies = [...madeAt].map(([id, at]) => Math.max(0, (arrivedAt.get(id) ?? 0) - at)).sort((a, b) => a - b);
  const quantile = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return { p50: quantile(0.5), p95: quantile(0.95) };
}

const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
const alone: { p50: number; p95: number }[] = [];
const beside: { p50: number; p95: number }[] = [];
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    alone.push(await measure(false));
    beside.push(await measure(true));
  }
} finally {
  await postgres?.stop();
}
const line = (name: string, runs: { p50: number; p95: number }[]) => {
  const [p50, p95] = [median(runs.map((run) => run.p50)), median(runs.map((run) => run.p95))];
  console.log(`${name.padEnd(48)} p50 ${p50.toFixed(1)} ms  p95 ${p95.toFixed(1)} ms`);
  return p95;
};
const without = line(`${endpoints} endpoints`, alone);
const withDead = line(`beside a dead one with ${queuedForTheDead} queued`, beside);
console.log(`p95 ratio ${(withDead / without).toFixed(2)}`);
process.exit(0);
