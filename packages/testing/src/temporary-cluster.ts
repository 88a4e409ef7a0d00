import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { cleanUpCluster, firstNumberIn, isAlive, serverOf } from "./clean-up-cluster.ts";
import { freePort } from "./free-port.ts";

export interface TemporaryCluster {
  /** Of a superuser, on 127.0.0.1 only. */
  readonly url: string;
  /** Stops the server the hard way (immediate shutdown, as in a crash) and starts it again on the same data and port. */
  restart(): Promise<void>;
  /** The first half of `restart`: until it is called, nothing listens at the address. */
  crash(): Promise<void>;
  /** Leaves nothing behind. */
  stop(): Promise<void>;
}

const folderPrefix = "intermission-postgres-";

/**
 * Starts a PostgreSQL server from the binaries of this machine on a temporary folder and a free port. The server refuses
 * to run as root, so root hands it to an unprivileged user. It does not outlive this process, however that ends; what
 * could not be cleaned up is at the next start. Without `fsync` it is faster, and survives everything but the machine's end.
 */
export async function startTemporaryCluster({
  fsync = true,
} = {}): Promise<TemporaryCluster | { outcome: "no-binaries" }> {
  const binaries = findBinaries();
  if (binaries === undefined) return { outcome: "no-binaries" };
  await cleanUpAbandoned();
  const owner = process.getuid?.() === 0 ? unprivilegedUser() : undefined;
  const folder = mkdtempSync(join("/tmp", folderPrefix));
  writeFileSync(join(folder, "owner.pid"), String(process.pid));
  cleanUpAfterUs(folder);
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, "data");
  const asOwner = { ...owner, cwd: "/", env: { PATH: process.env.PATH, LC_ALL: "C" } };
  const initialise = [
    "-D",
    data,
    "-U",
    "postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--no-instructions",
  ];
  execFileSync(join(binaries, "initdb"), initialise, { ...asOwner, stdio: ["ignore", "ignore", "pipe"] });
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const settings = [
    ...["listen_addresses=127.0.0.1", `port=${port}`, `unix_socket_directories=${folder}`, "max_connections=200"],
    ...["shared_buffers=256MB", "max_wal_size=4GB", `fsync=${fsync ? "on" : "off"}`],
  ];
  const start = async () => {
    const words = ["-D", data, ...settings.flatMap((setting) => ["-c", setting])];
    const server = spawn(join(binaries, "postgres"), words, { ...asOwner, stdio: "ignore" });
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
    crash: () => end("SIGQUIT"),
    async restart() {
      await end("SIGQUIT");
      server = await start();
    },
    async stop() {
      process.off("exit", removeAtExit);
      await end("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A process in a group of its own, so that what ends ours leaves it alone; it ends once we do. */
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
  // A pipe to a child is a socket, which its type does not tell. It must not keep this process alive.
  if ("unref" in stdin && typeof stdin.unref === "function") stdin.unref();
}

const YOUNG_MS = 10 * 60_000;

/** Clusters whose owner is dead; and folders without one, if no server uses them and they are too old to be just beginning. */
async function cleanUpAbandoned(): Promise<void> {
  for (const name of readdirSync("/tmp").filter((one) => one.startsWith(folderPrefix))) {
    const folder = join("/tmp", name);
    const madeAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    const [owner, server] = [firstNumberIn(join(folder, "owner.pid")), serverOf(folder)];
    const isUsed = owner === undefined ? server !== undefined && isAlive(server) : isAlive(owner);
    if (isUsed || (owner === undefined && Date.now() - madeAt < YOUNG_MS)) continue;
    // Only its own user may remove it.
    await cleanUpCluster(folder).catch(() => {});
  }
}

/** The folder of PostgreSQL's programs on this machine, of its newest version. */
export function findBinaries(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

function unprivilegedUser(): { uid: number; gid: number } {
  for (const name of ["postgres", "nobody"]) {
    try {
      const id = (flag: string) =>
        Number(execFileSync("id", [flag, name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
      return { uid: id("-u"), gid: id("-g") };
    } catch {
      // No such user here; try the next.
    }
  }
  throw new Error("PostgreSQL refuses to run as root, and there is neither a postgres nor a nobody user");
}

async function untilReady(server: ChildProcess, url: string): Promise<void> {
  let fault: unknown;
  for (let attempt = 0; attempt < 150; attempt++) {
    if (server.exitCode !== null) throw new Error(`the PostgreSQL server ended at once (exit ${server.exitCode})`);
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
