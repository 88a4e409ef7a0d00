import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { chooseAccount, commandOf } from "@intermission/postgres/cluster-account";
import { postgresPrograms } from "@intermission/postgres/postgres-programs";
import pg from "pg";
import { cleanUpCluster, firstNumberIn, isAlive, serverOf } from "./clean-up-cluster.ts";
import { freePort } from "./free-port.ts";
import { freezeServer } from "./freeze-server.ts";
import { memoryFolder, SHARED_MEMORY } from "./memory-folder.ts";

export interface TemporaryCluster {
  /** The address for a superuser, on 127.0.0.1 only. */
  readonly url: string;
  /** The file of the server's socket. */
  readonly socket: string;
  /** Stops the server by immediate shutdown, as in a crash, and starts it again on the same data and port. */
  restart(): Promise<void>;
  /** The first half of `restart`: until `restart` is called, nothing listens at the address. */
  crash(): Promise<void>;
  /** The server holds its connections and answers nothing until the returned function is called. */
  freeze(): () => void;
  /** Stops the server and removes its folder. */
  stop(): Promise<void>;
}

const folderPrefix = "intermission-postgres-";

interface TemporaryClusterOptions {
  readonly fsync?: boolean;
  /** The folder of PostgreSQL's programs. */
  readonly programs?: string;
  /** Settings of the server (`name=value`), in place of those below. */
  readonly settings?: readonly string[];
  /** Further environment variables of the server. */
  readonly env?: NodeJS.ProcessEnv;
  /** Makes the data folder; by default an empty cluster. */
  readonly makeData?: (of: { readonly data: string; readonly run: RunProgram }) => void;
}

/** Runs one of PostgreSQL's programs as the cluster's user. */
type RunProgram = (program: string, words: readonly string[]) => void;

const initialise: NonNullable<TemporaryClusterOptions["makeData"]> = ({ data, run }) => {
  const settings = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"];
  run("initdb", ["-D", data, ...settings, "--no-instructions", "--no-sync"]);
};

function runAs(account: ReturnType<typeof chooseAccount>, programs: string, env: NodeJS.ProcessEnv): RunProgram {
  return (program, words) => {
    const command = commandOf(account, join(programs, program), [...words]);
    execFileSync(command.program, command.words, { ...command.options, env, stdio: ["ignore", "ignore", "pipe"] });
  };
}

/**
 * Starts a PostgreSQL server on a temporary folder and a free port, by default from the programs of the embedded cluster. It
 * ends with this process, however that ends; the next start removes leftovers. Without `fsync` it is faster, in memory where
 * this machine has enough, and its data survive everything except a crash of the machine.
 */
export async function startTemporaryCluster({
  fsync = true,
  programs = postgresPrograms(),
  makeData = initialise,
  env: ofServer = {},
  settings: further = [],
}: TemporaryClusterOptions = {}): Promise<TemporaryCluster> {
  await cleanUpAbandoned();
  const folder = mkdtempSync(join((fsync ? undefined : memoryFolder()) ?? "/tmp", folderPrefix));
  writeFileSync(join(folder, "owner.pid"), String(process.pid));
  cleanUpAfterUs(folder);
  const data = join(folder, "data");
  const account = chooseAccount({ folder: data, dataDirectory: folder, programs });
  if (account.kind === "other-user") chownSync(folder, account.uid, account.gid);
  const env = { PATH: process.env.PATH, LC_ALL: "C" };
  makeData({ data, run: runAs(account, programs, env) });
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const settings = [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    `unix_socket_directories=${folder}`,
    "max_connections=200",
    "shared_buffers=256MB",
    "max_wal_size=2GB",
    `fsync=${fsync ? "on" : "off"}`,
    ...further,
  ];
  const start = async () => {
    const words = ["-D", data, ...settings.flatMap((setting) => ["-c", setting])];
    const postgres = commandOf(account, join(programs, "postgres"), words);
    const server = spawn(postgres.program, postgres.words, {
      ...postgres.options,
      env: { ...env, ...ofServer },
      stdio: "ignore",
    });
    await untilReady(server, url);
    return server;
  };
  let server = await start();
  const end = async (signal: NodeJS.Signals) => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = new Promise((resolve) => server.once("exit", resolve));
    server.kill(signal);
    await exited;
  };
  const removeAtExit = () => {
    server.kill("SIGQUIT");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", removeAtExit);
  return {
    url,
    socket: join(folder, `.s.PGSQL.${port}`),
    crash: () => end("SIGQUIT"),
    async restart() {
      await end("SIGQUIT");
      server = await start();
    },
    freeze() {
      const pid = serverOf(folder);
      if (pid === undefined) throw new Error("the server of the temporary cluster does not run");
      return freezeServer(pid);
    },
    async stop() {
      process.off("exit", removeAtExit);
      await end("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts the cleaner in a process group of its own, so that signals to ours do not end it; it exits after this process. */
function cleanUpAfterUs(folder: string): void {
  const program = join(import.meta.dirname, "clean-up-cluster.ts");
  const cleaner = spawn(process.execPath, [program, folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
    env: {},
  });
  cleaner.unref();
  const { stdin } = cleaner;
  stdin.on("error", () => {});
  // A pipe to a child is a socket, although its type does not show it. It must not keep this process alive.
  if ("unref" in stdin && typeof stdin.unref === "function") stdin.unref();
}

const YOUNG_MS = 10 * 60_000;

/** The folders of all temporary clusters on this machine. */
export function clusterFolders(): string[] {
  const roots = ["/tmp", SHARED_MEMORY].filter((root) => existsSync(root));
  return roots.flatMap((root) =>
    readdirSync(root)
      .filter((name) => name.startsWith(folderPrefix))
      .map((name) => join(root, name)),
  );
}

/** Removes clusters of dead owners, and old folders without an owner that no server uses; young ones may be starting. */
async function cleanUpAbandoned(): Promise<void> {
  for (const folder of clusterFolders()) {
    const madeAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    const [owner, server] = [firstNumberIn(join(folder, "owner.pid")), serverOf(folder)];
    const isUsed = owner === undefined ? server !== undefined && isAlive(server) : isAlive(owner);
    if (isUsed || (owner === undefined && Date.now() - madeAt < YOUNG_MS)) continue;
    // Only the folder's user may remove it.
    await cleanUpCluster(folder).catch(() => {});
  }
}

/** The folder of Debian's PostgreSQL in its newest version, which has client programs, too. */
export function findDebianPrograms(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  return versions
    .map((version) => join(debian, version, "bin"))
    .find((folder) => ["initdb", "pg_dump"].every((name) => existsSync(join(folder, name))));
}

async function untilReady(server: ChildProcess, url: string): Promise<void> {
  let fault: unknown;
  for (let attempt = 0; attempt < 150; attempt++) {
    if (server.exitCode !== null)
      throw new Error(`the PostgreSQL server exited at its start (exit ${server.exitCode})`);
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return;
    } catch (error) {
      fault = error;
    } finally {
      await client.end().catch(() => {});
    }
    await wait(200);
  }
  throw new Error("the PostgreSQL server did not become ready in 30 s", { cause: fault });
}
