/**
 * Kills the companion API, the ad service and PostgreSQL in turn while people follow links, keeps each away for a few seconds,
 * starts it again, and measures how soon rewards are in the ledger: the first one that was earned since, and all earlier ones.
 * Prints the times; fails only if some never arrive.
 *
 *   node e2e/kill/flow-after-restart.ts [--runs 2] [--away 3.5]
 */
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { companionApi } from "./companion-api.ts";
import { addressOf, followLink, newCode, userOf } from "./earn-events.ts";
import { type Nodes, startNodes } from "./start-nodes.ts";
import { withRetries } from "./with-retries.ts";
import { withStore } from "./with-store.ts";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "2" }, away: { type: "string", default: "3.5" } },
});

const FOLLOW_EVERY_MS = 100;
/** A pace that continues for this long after the restart. */
const FOLLOWED_AFTER_MS = 5000;
const RECORDED_WITHIN_MS = 60_000;

interface Target {
  readonly name: string;
  kill(): Promise<void>;
  start(): Promise<void>;
}

interface Times {
  readonly name: string;
  readonly firstSeconds: number;
  readonly allSeconds: number;
}

let people = 0;

/** Kills the target and returns how soon rewards flow after it has started again. */
async function measure(nodes: Nodes, target: Target): Promise<Times> {
  const awayMs = Number(values.away) * 1000;
  const api = companionApi(nodes.apiUrl, nodes.secrets.backendApiKey);
  // Those for the time after the restart are not spent before, however long a busy machine takes to restart the target.
  const kept = Math.ceil(FOLLOWED_AFTER_MS / FOLLOW_EVERY_MS);
  const number = Math.ceil((1000 + awayMs) / FOLLOW_EVERY_MS) + kept;
  const persons = Array.from({ length: number }, () => ++people);
  const codes = await Promise.all(
    persons.map(async (person) => ({ code: await newCode(api, userOf(person), `restart ${person}`), person })),
  );
  /** When the links of codes were followed. */
  const earned = new Map<string, number>();
  const following: Promise<void>[] = [];
  const follow = async ({ code, person }: (typeof codes)[number]) => {
    await followLink(nodes, code, addressOf(person));
    earned.set(code, performance.now());
  };
  let isRestarted = false;
  const pace = setInterval(() => {
    const next = isRestarted || codes.length > kept ? codes.pop() : undefined;
    if (next) following.push(follow(next));
  }, FOLLOW_EVERY_MS);
  try {
    await wait(1000);
    await target.kill();
    await wait(awayMs);
    await target.start();
    const startedAt = performance.now();
    isRestarted = true;
    const ledger = readLedger(api);
    const secondsUntil = async (what: string, isTrue: () => boolean) => {
      const attempt = async () => {
        await ledger.read();
        return isTrue() ? performance.now() : undefined;
      };
      return (
        ((await withRetries(what, attempt, { withinMs: RECORDED_WITHIN_MS, pauseMs: 50, maxPauseMs: 50 })) -
          startedAt) /
        1000
      );
    };
    const earlier = () => [...earned].filter(([, at]) => at < startedAt);
    const [firstSeconds, allSeconds] = await Promise.all([
      secondsUntil("a reward earned after the restart", () =>
        [...earned].some(([code, at]) => at >= startedAt && ledger.codes.has(code)),
      ),
      secondsUntil("the rewards earned before", () => earlier().every(([code]) => ledger.codes.has(code))),
    ]);
    await wait(Math.max(0, FOLLOWED_AFTER_MS - (performance.now() - startedAt)));
    await Promise.all(following);
    await secondsUntil("all rewards", () => [...earned.keys()].every((code) => ledger.codes.has(code)));
    return { name: target.name, firstSeconds, allSeconds };
  } finally {
    clearInterval(pace);
  }
}

/** The codes in the ledger, as far as its latest hundred entries showed them. */
function readLedger(api: ReturnType<typeof companionApi>) {
  const codes = new Set<string>();
  return {
    codes,
    async read() {
      for (const { code } of await api.listLatestRewards()) if (code !== null) codes.add(code);
    },
  };
}

function targetsOf(nodes: Nodes, cluster: { crash(): Promise<void>; restart(): Promise<void> }): Target[] {
  const names = { api: "the companion API", "ad-service": "the ad service" };
  const servers = nodes.all.map((node) => ({
    name: names[node.role],
    kill: () => node.kill(),
    start: () => node.start(),
  }));
  return [...servers, { name: "PostgreSQL", kill: () => cluster.crash(), start: () => cluster.restart() }];
}

await withStore("postgres", async ({ cluster, databaseUrl, dataDirectory }) => {
  if (cluster === undefined) throw new Error("there is no PostgreSQL to kill");
  const nodes = await startNodes({ dataDirectory, databaseUrl, adServices: 1, apis: 1 });
  try {
    const times: Times[] = [];
    for (let run = 0; run < Number(values.runs); run++)
      for (const target of targetsOf(nodes, cluster)) times.push(await measure(nodes, target));
    for (const { name, firstSeconds, allSeconds } of times) {
      const [first, all] = [firstSeconds, allSeconds].map((seconds) => seconds.toFixed(1));
      console.log(
        `  ${name}, ${values.away} s away: the next reward after ${first} s, all earlier ones after ${all} s`,
      );
    }
    return true;
  } finally {
    await nodes.stop();
  }
});
