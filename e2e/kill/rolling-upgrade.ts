/**
 * Updates two ad services and two companion APIs, one after the other, to a version with two more migrations, and back, while
 * people request codes, follow links and watch ads, 20 requests a second. The load balancer asks `/readyz`, DRAIN_SECONDS is
 * 5. No request may fail, and nothing may be lost or paid twice.
 *
 *   node e2e/kill/rolling-upgrade.ts [--rate 20]
 */
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { askServer } from "../../packages/testing/src/copy-database.ts";
import { initDataOf, playedRanges, ScriptedViewer } from "../scripted-viewer.ts";
import { companionApi } from "./companion-api.ts";
import { compareRecords } from "./compare-records.ts";
import { addressOf, type Promises, userOf, visitHeaders } from "./earn-events.ts";
import type { MortalNode } from "./mortal-node.ts";
import { readRecords } from "./read-records.ts";
import { type Nodes, startNodes } from "./start-nodes.ts";
import { withStore } from "./with-store.ts";

const { values } = parseArgs({ options: { rate: { type: "string", default: "20" } } });
/** A click is two requests, a view four in some three seconds: of seven rounds, one is a view. */
const ROUND_MS = (1000 / Number(values.rate)) * ((6 * 2 + 4) / 7);
const LOOK_EVERY_MS = 250;

/** Takes nodes that are not ready out of the load balancer, as Caddy and Kubernetes do. */
function followReadiness({ all, targets }: Nodes) {
  const look = async () => {
    const ready = await Promise.all(
      all.map(async (node) => {
        const answer = await fetch(`${node.url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
        return answer?.ok === true;
      }),
    );
    for (const role of ["ad-service", "api"] as const) {
      const ports = all.flatMap((node, index) =>
        node.role === role && ready[index] === true ? [Number(new URL(node.url).port)] : [],
      );
      if (ports.length > 0) targets[role].splice(0, targets[role].length, ...ports);
    }
  };
  const looking = setInterval(() => void look(), LOOK_EVERY_MS);
  return { stop: () => clearInterval(looking) };
}

/** People who never try again: what fails is a fault that a user sees. */
function visitWithoutRetries(nodes: Nodes) {
  const api = companionApi(nodes.apiUrl, nodes.secrets.backendApiKey);
  const viewer = new ScriptedViewer(nodes.adServiceUrl);
  const earned: Promises["earned"] = [];
  const faults: string[] = [];
  const underWay = new Set<Promise<void>>();
  let requests = 0;
  let views = 0;

  const request = async <Answer>(what: string, ask: () => Promise<Answer>): Promise<Answer> => {
    requests += 1;
    try {
      return await ask();
    } catch (error) {
      throw new Error(`${what}: ${error instanceof Error ? `${error.message} ${error.cause ?? ""}` : error}`);
    }
  };
  async function click(code: string, index: number): Promise<void> {
    const headers = visitHeaders(addressOf(index));
    const answer = await request("click", () =>
      fetch(`${nodes.adServiceUrl}/${code}`, { redirect: "manual", headers }),
    );
    await answer.arrayBuffer();
    if (answer.status !== 302) throw new Error(`a click was answered ${answer.status}`);
  }
  async function watch(userId: string, code: string): Promise<void> {
    const initData = initDataOf(userId, nodes.secrets);
    const opened = await request("opening", () => viewer.open(nodes.secrets.botId, initData, code));
    if (opened.status !== 200 || opened.body.outcome !== "session") throw new Error(`opening: ${opened.status}`);
    const { session_id: id, token, ad, first_sequence: first } = opened.body;
    const started = await request("start", () => viewer.report(id, { token, reports: [], started: true }));
    if (started.status !== 200) throw new Error(`start: ${started.status}`);
    await wait(ad.duration_ms);
    const reports = playedRanges(ad.duration_ms, 0, first);
    const closed = await request("close", () => viewer.report(id, { token, reports, closed: "tap" }));
    if (closed.status !== 200 || closed.body.state !== "rewarded") throw new Error(`close: ${JSON.stringify(closed)}`);
    views += 1;
  }
  async function visit(index: number): Promise<void> {
    const event = index % 7 === 0 ? "rewarded" : "direct_link";
    // One view of a user at a time.
    const userId = event === "rewarded" ? String(500_000 + index) : userOf(index);
    const created = await request("code", () => api.createCode(userId, `${index}`));
    if (created.outcome !== "created") throw new Error(`no code: ${created.outcome}`);
    await (event === "rewarded" ? watch(userId, created.code) : click(created.code, index));
    earned.push({ userId, code: created.code, event });
  }

  let started = 0;
  const starting = setInterval(() => {
    const work = visit(started++)
      .catch(
        (fault: unknown) =>
          void faults.push(`${new Date().toISOString()} ${fault instanceof Error ? fault.message : fault}`),
      )
      .finally(() => underWay.delete(work));
    underWay.add(work);
  }, ROUND_MS);
  return {
    earned,
    faults,
    count: () => ({ requests, views }),
    async stop(): Promise<void> {
      clearInterval(starting);
      await Promise.all(underWay);
    },
  };
}

async function rollTo(nodes: Nodes, restart: (node: MortalNode) => Promise<void>): Promise<void> {
  for (const node of nodes.all) {
    await restart(node);
    const { port } = new URL(node.url);
    while (!nodes.targets[node.role].includes(Number(port))) await wait(50);
    await wait(1000);
  }
}

async function settle(nodes: Nodes, promises: Promises): Promise<readonly string[]> {
  const giveUpAt = Date.now() + 120_000;
  for (;;) {
    const { faults } = compareRecords(promises, await readRecords(nodes), []);
    if (faults.length === 0 || Date.now() > giveUpAt) return faults;
    await wait(500);
  }
}

await withStore("postgres", async ({ dataDirectory, databaseUrl }) => {
  const isNext = new Set<string>();
  const nextVersion = pathToFileURL(join(import.meta.dirname, "next-version.ts")).href;
  const environmentOf = (node: string) => ({
    DRAIN_SECONDS: "5",
    ...(isNext.has(node) && { NODE_OPTIONS: `--import=${nextVersion}` }),
  });
  const nodes = await startNodes({ dataDirectory, databaseUrl, adServices: 2, apis: 2, environmentOf });
  const readiness = followReadiness(nodes);
  try {
    const visiting = visitWithoutRetries(nodes);
    await wait(2000);
    for (const direction of ["update", "rollback"] as const) {
      await rollTo(nodes, async (node) => {
        await node.stop();
        if (direction === "update") isNext.add(node.name);
        else isNext.delete(node.name);
        await node.start();
      });
      const { requests, views } = visiting.count();
      console.log(`${direction}: ${requests} requests, ${views} views, ${visiting.faults.length} failed`);
    }
    await visiting.stop();
    const faults = [...visiting.faults, ...(await settle(nodes, { earned: visiting.earned, spent: [] }))];
    const ran = await askServer(
      databaseUrl ?? "",
      "select name from ad_service.migrations where name ~ '^900' union all select name from api.migrations where name ~ '^900'",
    );
    if (ran.length !== 4) faults.push(`${ran.length} of 4 migrations of the next version ran`);
    for (const fault of faults.slice(0, 20)) console.error(`  ${fault}`);
    console.log(`${visiting.earned.length} earned, ${faults.length} faults`);
    return faults.length === 0;
  } finally {
    readiness.stop();
    await nodes.stop();
  }
});
