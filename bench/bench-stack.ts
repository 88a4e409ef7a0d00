import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { initDataOf } from "../e2e/scripted-viewer.ts";
import { type DemoStack, startDemoStack } from "../scripts/demo-stack.ts";
import { freePort, root, runCommand, startServer } from "../scripts/processes.ts";
import { operate } from "./operate.ts";

export interface Store {
  readonly name: string;
  readonly databaseUrl?: string;
}

export type BenchStack = DemoStack;

/** The socket of the ad service's clock, in its data folder. */
const clockSocket = "clock.sock";

/** The ad service's clock. It stops until it is moved, and never goes back. */
interface MovableClock {
  /** Moves the clock to the real time if it is behind. */
  catchUp(): Promise<Date>;
  advance(seconds: number): Promise<Date>;
}

/** A server, or a stack of servers, under load. */
export interface Target {
  readonly name: string;
  readonly urls: { readonly adService: string; readonly api: string };
  readonly bot: { readonly botId: string; readonly token: string };
  readonly pids: readonly number[];
  /** Launch data of the bot's user, signed as by Telegram. */
  initDataOf(userId: string, at: Date): string;
  readonly clock: MovableClock;
  stop(): Promise<void>;
}

interface StackOptions {
  /** The root folder of the sources to run; that of another revision measures it in the same run. */
  readonly sources?: string;
  /** The duration of the house campaign's video: a small clip, whose file says that it is this long. */
  readonly videoSeconds?: number;
  /** A video file for the house campaign, instead of the clip. */
  readonly video?: string;
}

/** Starts a whole stack with limits per token and per user that are too high to matter. */
export async function benchStack(
  store: Store,
  { sources = root, videoSeconds = 2, video: ownVideo }: StackOptions = {},
): Promise<BenchStack & { dataDirectory: string }> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "intermission-bench-"));
  const video = ownVideo ?? join(dataDirectory, "video.mp4");
  if (ownVideo === undefined) writeSlowVideo(video, videoSeconds);
  const start: typeof startDemoStack =
    sources === root
      ? startDemoStack
      : (await import(pathToFileURL(join(sources, "scripts/demo-stack.ts")).href)).startDemoStack;
  const stack = await start({
    dataDirectory,
    ports: { adService: await freePort(), api: await freePort(), demoBot: await freePort() },
    databaseUrl: store.databaseUrl,
    video,
    hasChat: false,
    cooldownSeconds: 0,
    dailyCap: 1000,
    env: {
      "ad-service": environmentForLoad(dataDirectory),
      api: { LOG_LEVEL: "warn" },
    },
  });
  const stop = async () => {
    await stack.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  };
  return { ...stack, secrets: stack.secrets, stop, dataDirectory };
}

/** Settings of an ad service under load, whose clock can be moved. */
function environmentForLoad(dataDirectory: string): NodeJS.ProcessEnv {
  return {
    TRUST_PROXY: "127.0.0.1",
    RATE_LIMIT_PER_TOKEN: "1000000",
    LOG_LEVEL: "warn",
    NODE_OPTIONS: `--import=${pathToFileURL(join(root, "bench/movable-clock.ts")).href}`,
    BENCH_CLOCK_SOCKET: join(dataDirectory, clockSocket),
  };
}

/** A stack with a disabled endpoint, so that no deliveries run during the measurement. */
export async function stackTarget(name: string, store: Store, options: StackOptions): Promise<Target> {
  const stack = await benchStack(store, options);
  const { secrets, urls, dataDirectory } = stack;
  await operate(stack, "POST", `/endpoints/${secrets.botId}/disable`, {});
  return {
    name,
    urls,
    bot: { botId: secrets.botId, token: secrets.adApiToken ?? "" },
    pids: pidsOf(stack),
    initDataOf: (userId, at) => initDataOf(userId, secrets, at),
    clock: clockAt(join(dataDirectory, clockSocket)),
    stop: stack.stop,
  };
}

export function pidsOf({ servers }: Pick<BenchStack, "servers">): number[] {
  return [...servers.values()].flatMap((server) => server.process.pid ?? []);
}

export interface Baseline {
  readonly name: string;
  /** The folder of its sources, with packages of its own. */
  readonly root: string;
  remove(): void;
}

/** Unpacks an older revision into a temporary folder and sets it up, so that both revisions are measured in one run. */
export async function unpackBaseline(revision: string): Promise<Baseline> {
  const commit = execFileSync("git", ["rev-parse", "--short", `${revision}^{commit}`], { cwd: root, encoding: "utf8" });
  const folder = mkdtempSync(join(tmpdir(), "intermission-baseline-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  const archive = execFileSync("git", ["archive", commit.trim()], { cwd: root, maxBuffer: 1024 ** 3 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  await runCommand(process.execPath, [join(folder, "scripts/set-up.mjs"), "scripts/say.ts"]);
  return { name: commit.trim(), root: folder, remove };
}

/** Starts the floor of the HTTP paths; with a store, each answer waits for one committed row. */
export async function floorTarget(name: string, store?: Store): Promise<Target> {
  const port = await freePort();
  const dataDirectory =
    store && store.databaseUrl === undefined ? mkdtempSync(join(tmpdir(), "intermission-bench-")) : undefined;
  const removeData = () => dataDirectory !== undefined && rmSync(dataDirectory, { recursive: true, force: true });
  const server = startServer("floor", "bench/floor-server.ts", {
    PORT: String(port),
    ...(store?.databaseUrl !== undefined && { DATABASE_URL: store.databaseUrl }),
    ...(dataDirectory !== undefined && { DATA_DIR: dataDirectory }),
  });
  const stop = async () => {
    await server.stop();
    removeData();
  };
  try {
    await server.ready;
  } catch (error) {
    await stop();
    throw error;
  }
  const url = `http://127.0.0.1:${port}`;
  return {
    name,
    urls: { adService: url, api: url },
    bot: { botId: "7000000001", token: "t".repeat(43) },
    pids: server.process.pid === undefined ? [] : [server.process.pid],
    // The floor checks nothing, but reads as many bytes.
    initDataOf: () =>
      `auth_date=1&query_id=AA&user=${"u".repeat(100)}&signature=${"s".repeat(86)}&hash=${"h".repeat(64)}`,
    clock: { catchUp: async () => new Date(), advance: async () => new Date() },
    stop,
  };
}

function clockAt(path: string): MovableClock {
  let at = 0;
  const moveTo = async (milliseconds: number) => {
    at = milliseconds;
    await setClock(path, milliseconds);
    return new Date(at);
  };
  return {
    catchUp: () => moveTo(Math.max(at, Date.now())),
    advance: (seconds) => moveTo(at + seconds * 1000),
  };
}

async function setClock(path: string, milliseconds: number): Promise<void> {
  const socket = connect(path);
  socket.write(`${milliseconds}\n`);
  const [answer] = await once(socket, "data");
  socket.destroy();
  if (answer.toString() !== "moved\n") throw new Error(`the clock answered ${answer}`);
}

const fixture = { path: join(root, "e2e/fixtures/clip-2s.mp4"), seconds: 2 };
/** ISO 14496-12, 8.2.2 and 8.4.2: the timescale follows version, flags and two times of 32 bits. */
const timescaleAt = 4 + 4 + 4;

/** Writes a video of this duration: the fixture of two seconds with a smaller timescale. */
function writeSlowVideo(path: string, seconds: number): void {
  const bytes = readFileSync(fixture.path);
  for (const box of ["mvhd", "mdhd"]) {
    for (let at = bytes.indexOf(box); at >= 0; at = bytes.indexOf(box, at + 4)) {
      const timescale = at + 4 + timescaleAt;
      bytes.writeUInt32BE(Math.round((bytes.readUInt32BE(timescale) * fixture.seconds) / seconds), timescale);
    }
  }
  writeFileSync(path, bytes);
}
