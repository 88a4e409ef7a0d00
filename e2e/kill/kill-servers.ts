/**
 * Kills the ad service and the companion API with SIGKILL at random moments while many scripted people watch ads and
 * follow links, then shows that each event that was earned stands in the ledger once.
 *
 *   node e2e/kill/kill-servers.ts --database embedded|postgres://… [--rewards 200] [--seed 1]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type DemoStack, type ServerName, startDemoStack } from "../../scripts/demo-stack.ts";
import { freePort, root } from "../../scripts/processes.ts";
import { initDataOf, ScriptedViewer, stretches } from "../scripted-viewer.ts";
import { companionApi } from "./companion-api.ts";

const { values } = parseArgs({
  options: {
    database: { type: "string", default: "embedded" },
    rewards: { type: "string", default: "200" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const rewards = Number(values.rewards);
const deadline = Date.now() + 10 * 60_000;
let state = Number(values.seed);

/** mulberry32: the same seed gives the same kills, as far as the machine's timing allows. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

/** Tries again while a server is down, as a phone or a bot would. */
async function patiently<T>(what: string, attempt: () => Promise<T | undefined>): Promise<T> {
  let lastFault: unknown;
  while (Date.now() < deadline) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      lastFault = error;
    }
    await wait(200 + random() * 200);
  }
  throw new Error(`${what} did not succeed in time`, { cause: lastFault });
}

async function watchAd(stack: DemoStack, viewer: ScriptedViewer, userId: string, code: string): Promise<void> {
  const initData = initDataOf(userId, stack.secrets);
  while (Date.now() < deadline) {
    const { body } = await patiently("opening a session", async () => {
      const answer = await viewer.open(stack.secrets.botId, initData, code);
      return answer.status === 200 ? answer : undefined;
    });
    if (body.outcome !== "session") throw new Error(`no ad for ${userId}: ${body.outcome}`);
    if (body.state === "rewarded") return;
    const { session_id, token, ad } = body;
    const start = await patiently("starting", () => viewer.report(session_id, { token, reports: [], started: true }));
    if (start.status !== 200) continue;
    await wait(ad.duration_ms);
    const reports = stretches(ad.duration_ms, 0, body.first_sequence);
    const end = await patiently("closing", () => viewer.report(session_id, { token, reports, closed: "tap" }));
    if (end.status === 200 && end.body.state === "rewarded") return;
  }
  throw new Error("no reward in time");
}

async function followLink(stack: DemoStack, code: string, address: string): Promise<void> {
  await patiently("following a link", async () => {
    const response = await fetch(`${stack.urls.adService}/${code}`, {
      redirect: "manual",
      headers: {
        "user-agent":
          "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36",
        accept: "text/html",
        "accept-language": "en",
        "x-forwarded-for": address,
      },
      signal: AbortSignal.timeout(10_000),
    });
    await response.arrayBuffer();
    return response.status === 302 ? true : undefined;
  });
}

async function keepKilling(stack: DemoStack, isOver: () => boolean): Promise<Record<string, number>> {
  const kills: Record<string, number> = { "ad-service": 0, api: 0 };
  const names: ServerName[] = ["ad-service", "api"];
  while (!isOver()) {
    await wait(500 + random() * 2500);
    if (isOver()) break;
    const name = names[random() < 0.5 ? 0 : 1] ?? "api";
    const server = stack.servers.get(name);
    if (server === undefined) throw new Error(`${name} does not run`);
    const ended = new Promise((resolve) => server.process.once("exit", resolve));
    server.process.kill("SIGKILL");
    await ended;
    kills[name] = (kills[name] ?? 0) + 1;
    await wait(random() * 500);
    await stack.start(name);
  }
  return kills;
}

async function main(): Promise<void> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "intermission-kill-"));
  const startedAt = Date.now();
  console.log(`${rewards} rewards on ${values.database === "embedded" ? "PGlite" : "PostgreSQL"}, seed ${values.seed}`);
  const stack = await startDemoStack({
    dataDirectory,
    ports: { adService: await freePort(), api: await freePort(), demoBot: await freePort() },
    databaseUrl: values.database === "embedded" ? undefined : values.database,
    video: join(root, "e2e/fixtures/clip-2s.mp4"),
    hasChat: false,
    cooldownSeconds: 0,
    dailyCap: 100,
    env: { "ad-service": { TRUST_PROXY: "127.0.0.1" } },
  });
  try {
    const api = companionApi(stack.urls.api, stack.secrets.backendApiKey);
    const viewer = new ScriptedViewer(stack.urls.adService);
    let isOver = false;
    const killing = keepKilling(stack, () => isOver);
    const earned: { userId: string; code: string; event: string }[] = [];
    const oneReward = async (index: number) => {
      const userId = String(100_000 + index);
      await wait(random() * 40_000);
      const created = await patiently("creating a code", async () => {
        const answer = await api.createCode(userId);
        return answer.outcome === "created" ? answer : undefined;
      });
      if (index % 2 === 0) await watchAd(stack, viewer, userId, created.code);
      else await followLink(stack, created.code, `198.18.${Math.floor(index / 250)}.${(index % 250) + 1}`);
      earned.push({ userId, code: created.code, event: index % 2 === 0 ? "rewarded" : "direct_link" });
    };
    await Promise.all(Array.from({ length: rewards }, (_, index) => oneReward(index)));
    isOver = true;
    const kills = await killing;

    const faults: string[] = [];
    for (const { userId, code, event } of earned) {
      const entries = await patiently(`the ledger entry of ${event} for user ${userId}`, async () => {
        const found = await api.listRewards(userId);
        return found.length > 0 ? found : undefined;
      });
      const matching = entries.filter((entry) => entry.code === code && entry.event === event && entry.amount > 0);
      if (matching.length !== 1 || entries.length !== 1) {
        faults.push(`user ${userId}: ${matching.length} paid entries of ${event}, ${entries.length} entries in all`);
      }
    }
    const sum = earned.reduce((total, { event }) => total + (event === "rewarded" ? 10 : 3), 0);
    console.log(
      `${earned.length} events earned, kills: ad service ${kills["ad-service"]}, API ${kills.api}; expected payout ${sum}; ` +
        `${faults.length} faults; ${((Date.now() - startedAt) / 1000).toFixed(0)} s`,
    );
    for (const fault of faults) console.error(fault);
    if (faults.length > 0 || (kills["ad-service"] ?? 0) + (kills.api ?? 0) === 0) process.exitCode = 1;
  } finally {
    await stack.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  }
}

await main();
