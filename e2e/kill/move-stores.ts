/**
 * Moves both servers' stores by `export` and `import`, from the embedded database to a PostgreSQL server and back, with views,
 * clicks, ledger entries and deliveries that wait. Each command is killed several times and repeated. On the new store all
 * that was confirmed must be in both parties' records, once; the feed goes on at a cursor of the old one; what waited is
 * delivered; and people earn again.
 *
 *   node e2e/kill/move-stores.ts [--people 40]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { demoSecrets } from "../../scripts/demo-secrets.ts";
import { root, runCommand } from "../../scripts/processes.ts";
import { companionApi } from "./companion-api.ts";
import { compareRecords } from "./compare-records.ts";
import { addressOf, earnEvents, followLink, newCode, type Promises, userOf } from "./earn-events.ts";
import { listEvents, readRecords } from "./read-records.ts";
import { type Nodes, startNodes } from "./start-nodes.ts";
import { withStore } from "./with-store.ts";

const { values } = parseArgs({ options: { people: { type: "string", default: "40" } } });
const people = Number(values.people);
/** Clicks whose webhooks find no receiver. */
const WAITING = 8;

interface Place {
  readonly dataDirectory: string;
  readonly databaseUrl: string | undefined;
}

const programs = { ads: "apps/ad-service/src/cli.ts", api: "apps/api/src/cli.ts" };

function environmentAt({ dataDirectory, databaseUrl }: Place): NodeJS.ProcessEnv {
  const { encryptionKey } = demoSecrets(dataDirectory);
  return {
    DATA_DIR: dataDirectory,
    ENCRYPTION_KEY: encryptionKey,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
}

/** What a command says when the one that was killed had done everything, and only had to end. */
const wasComplete = { export: "is a whole export already", import: "is in the store already" };

/** Kills the command after each of these times, then runs it to its end. Returns how often it was killed before its end. */
async function runKilled(
  { program, command, folder }: { program: keyof typeof programs; command: "export" | "import"; folder: string },
  place: Place,
  killAfterMs: readonly number[],
): Promise<number> {
  const words = [join(root, programs[program]), command, folder];
  let killed = 0;
  for (const delay of killAfterMs) {
    const env = { PATH: process.env.PATH, ...environmentAt(place) };
    const child = spawn(process.execPath, [...words], { cwd: root, env, stdio: "ignore" });
    const ended = once(child, "exit");
    const timer = setTimeout(() => child.kill("SIGKILL"), delay);
    const [code, signal] = await ended;
    clearTimeout(timer);
    if (code === 0) return killed;
    if (signal !== "SIGKILL") break;
    killed += 1;
  }
  try {
    await runCommand(process.execPath, words, { env: environmentAt(place) });
  } catch (error) {
    const isComplete = error instanceof Error && error.message.includes(wasComplete[command]);
    if (killed === 0 || !isComplete) throw error;
  }
  return killed;
}

async function move(from: Place, to: Place, folder: string): Promise<void> {
  mkdirSync(to.dataDirectory, { recursive: true, mode: 0o700 });
  if (!existsSync(join(to.dataDirectory, "demo-secrets.json")))
    copyFileSync(join(from.dataDirectory, "demo-secrets.json"), join(to.dataDirectory, "demo-secrets.json"));
  for (const program of ["ads", "api"] as const) {
    const exports = await runKilled({ program, command: "export", folder }, from, [500, 900, 1300]);
    const imports = await runKilled({ program, command: "import", folder }, to, [700, 1000, 1300, 1700]);
    console.log(`${program}: the export was killed ${exports} times, the import ${imports} times`);
  }
}

async function earnOn(nodes: Nodes, first: number): Promise<Promises> {
  const earning = earnEvents(nodes, { first });
  for (let person = 0; person < people; person++) {
    earning.begin();
    await wait(20);
  }
  await earning.finish();
  return earning.promises;
}

/** Clicks whose webhooks are refused: the companion API is down. */
async function earnWaiting(nodes: Nodes, first: number): Promise<Promises["earned"]> {
  const api = companionApi(nodes.apiUrl, nodes.secrets.backendApiKey);
  const visits = await Promise.all(
    Array.from({ length: WAITING }, async (_, index) => {
      const userId = userOf(first + index);
      const code = await newCode(api, userId, `waiting ${first + index}`);
      return { userId, code, address: addressOf(first + index) };
    }),
  );
  await Promise.all(nodes.all.filter(({ role }) => role === "api").map((node) => node.stop()));
  for (const { code, address } of visits) await followLink(nodes, code, address);
  return visits.map(({ userId, code }) => ({ userId, code, event: "direct_link" }));
}

/** Waits until the records agree, up to a limit, and returns the remaining faults. */
async function settle(nodes: Nodes, promises: Promises): Promise<readonly string[]> {
  const giveUpAt = Date.now() + 120_000;
  for (;;) {
    const records = await readRecords(nodes);
    const undelivered = records.events.filter(({ delivery }) => delivery !== "delivered");
    const faults = [
      ...compareRecords(promises, records, []).faults,
      ...undelivered.map(({ event_id: id, delivery }) => `${id} is ${delivery}`),
    ];
    if (faults.length === 0 || Date.now() > giveUpAt) return faults;
    await wait(500);
  }
}

interface Position {
  readonly next: string;
  readonly seen: ReadonlySet<string>;
}

async function positionOf(nodes: Nodes): Promise<Position> {
  const { events, next } = await listEvents(nodes);
  return { next, seen: new Set(events.map(({ event_id: id }) => id)) };
}

/** What the feed of the new store lists after a cursor of the old one: what is new, and nothing else. */
async function feedFaults(nodes: Nodes, { next, seen }: Position, earned: Promises["earned"]): Promise<string[]> {
  const { events } = await listEvents(nodes, next);
  const listed = new Set(events.map(({ code }) => code));
  return [
    ...events.filter(({ event_id: id }) => seen.has(id)).map(({ event_id: id }) => `the feed repeats ${id}`),
    ...earned.filter(({ code }) => !listed.has(code)).map(({ code }) => `the feed lacks the event of ${code}`),
  ];
}

await withStore("postgres", async ({ dataDirectory, databaseUrl }) => {
  const places: readonly (Place & { readonly name: string })[] = [
    { name: "embedded", dataDirectory: join(dataDirectory, "first"), databaseUrl: undefined },
    { name: "server", dataDirectory: join(dataDirectory, "second"), databaseUrl },
    { name: "embedded again", dataDirectory: join(dataDirectory, "third"), databaseUrl: undefined },
  ];
  const promises: { earned: Promises["earned"][number][]; spent: Promises["spent"][number][] } = {
    earned: [],
    spent: [],
  };
  let before: { place: Place; position: Position } | undefined;
  const all: string[] = [];
  for (const place of places) {
    if (before === undefined) mkdirSync(place.dataDirectory, { mode: 0o700 });
    else await move(before.place, place, join(dataDirectory, `export for ${place.name}`));
    const nodes = await startNodes({ ...place, adServices: 1, apis: 1 });
    try {
      const made = await earnOn(nodes, promises.earned.length);
      promises.earned.push(...made.earned);
      promises.spent.push(...made.spent);
      const faults = [...(await settle(nodes, promises))];
      if (before !== undefined) faults.push(...(await feedFaults(nodes, before.position, made.earned)));
      console.log(`${place.name}: ${promises.earned.length} earned, ${faults.length} faults`);
      for (const fault of faults.slice(0, 20)) console.error(`  ${fault}`);
      all.push(...faults);
      // The next store delivers these.
      promises.earned.push(...(await earnWaiting(nodes, promises.earned.length)));
      before = { place, position: await positionOf(nodes) };
    } finally {
      await nodes.stop();
    }
  }
  return all.length === 0;
});
