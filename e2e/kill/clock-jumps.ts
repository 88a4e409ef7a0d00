/**
 * The clock of the database's machine jumps by a day, ahead and back and again the other way, while people request codes,
 * follow links and watch ads on two ad services and a companion API. Every node names it within seconds, everybody is served
 * meanwhile, nothing is lost or paid twice, and all is delivered once the clock is right.
 *
 *   node e2e/kill/clock-jumps.ts [--seconds 12]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { missingForClocks, openMovableClock } from "../../packages/testing/src/movable-clock.ts";
import { startTemporaryCluster } from "../../packages/testing/src/temporary-cluster.ts";
import { compareRecords } from "./compare-records.ts";
import { earnEvents, type Promises } from "./earn-events.ts";
import { probeWrites } from "./probe-writes.ts";
import { listEvents, readRecords } from "./read-records.ts";
import { type Nodes, startNodes } from "./start-nodes.ts";
import { withRetries } from "./with-retries.ts";
import { withStore } from "./with-store.ts";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "12" } } });

const DAY_SECONDS = 86_400;
const EARN_EVERY_MS = 200;
const MAX_UNDER_WAY = 60;
const SETTLED_WITHIN_MS = 120_000;

/** Waits until every node's `/readyz` warns of the jump, or warns of none, and answers 200. */
async function untilNamed(nodes: Nodes, jumpSeconds: number): Promise<void> {
  for (const { name, url } of nodes.all)
    await withRetries(
      `${name} naming a jump of ${jumpSeconds} s`,
      async () => {
        const answer = await fetch(`${url}/readyz`);
        const text = await answer.text();
        const direction = jumpSeconds > 0 ? "ahead" : "back";
        const isNamed = new RegExp(`clock jumped 8\\d{4} s ${direction}`).test(text);
        return answer.status === 200 && (jumpSeconds === 0 ? !/clock/.test(text) : isNamed) ? true : undefined;
      },
      { withinMs: 30_000 },
    );
}

async function settle(nodes: Nodes, promises: Promises): Promise<readonly string[]> {
  const giveUpAt = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const { faults } = compareRecords(promises, await readRecords(nodes), []);
    const { events } = await listEvents(nodes);
    const undelivered = events.filter(({ delivery }) => delivery !== "delivered");
    const all = [...faults, ...undelivered.map(({ event_id: id, delivery }) => `${id} is ${delivery}`)];
    if (all.length === 0 || Date.now() > giveUpAt) return all;
    await wait(1000);
  }
}

async function jump(dataDirectory: string): Promise<boolean> {
  const clock = openMovableClock();
  const cluster = await startTemporaryCluster({ env: clock.env });
  try {
    // Without a page of the mini-app no node is ready, whether it is built here or not.
    writeFileSync(join(dataDirectory, "index.html"), "<title>mini-app</title>");
    const environmentOf = () => ({ MINIAPP_DIR: dataDirectory });
    const nodes = await startNodes({ dataDirectory, databaseUrl: cluster.url, adServices: 2, apis: 1, environmentOf });
    try {
      const earning = earnEvents(nodes);
      const probe = probeWrites(nodes);
      const load = setInterval(() => earning.underWay < MAX_UNDER_WAY && earning.begin(), EARN_EVERY_MS);
      await wait(2000);
      for (const seconds of [DAY_SECONDS, 0, -DAY_SECONDS, 0]) {
        const movedAt = performance.now();
        clock.moveBy(seconds);
        const untilWrite = await probe.secondsUntilWrite(movedAt);
        await untilNamed(nodes, seconds);
        const named = ((performance.now() - movedAt) / 1000).toFixed(1);
        console.log(`  clock at ${seconds} s: a write after ${untilWrite.toFixed(1)} s, named after ${named} s`);
        await wait(Number(values.seconds) * 1000);
      }
      clearInterval(load);
      await probe.stop();
      await earning.finish();
      const lost = await probe.lost();
      const silent = nodes.all.filter(
        ({ name }) => !/"the database's clock jumped:/.test(readFileSync(join(dataDirectory, `${name}.log`), "utf8")),
      );
      const faults = [
        ...(await settle(nodes, earning.promises)),
        ...lost.map((code) => `lost: the acknowledged code ${code}`),
        ...silent.map(({ name }) => `${name} did not log the jump`),
      ];
      for (const fault of faults.slice(0, 20)) console.error(`  ${fault}`);
      console.log(`${earning.promises.earned.length} earned, ${probe.count()} more codes, ${faults.length} faults`);
      return faults.length === 0;
    } finally {
      await nodes.stop();
    }
  } finally {
    await cluster.stop();
    clock.remove();
  }
}

const missing = missingForClocks();
if (missing === undefined) await withStore("embedded", ({ dataDirectory }) => jump(dataDirectory));
else console.log(`!!! No clock jumped: ${missing}`);
