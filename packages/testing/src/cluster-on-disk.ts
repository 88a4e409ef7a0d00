import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { freePort } from "./free-port.ts";
import type { SmallDisk } from "./small-disk.ts";
import { findDebianPrograms } from "./temporary-cluster.ts";

/** A PostgreSQL server whose data are on a small disk. */
interface ClusterOnDisk {
  readonly url: string;
  /** Starts it again wherever it has ended, as systemd does; stops that with `stop`. */
  supervise(): void;
  stop(): Promise<void>;
}

/** Why no such server can run here, in one line; undefined if one can. */
export function missingForClusterOnDisk(): string | undefined {
  if (process.getuid?.() !== 0) return "entering a disk as PostgreSQL's own user needs root";
  return findDebianPrograms() === undefined ? "Enable it: apt-get install postgresql" : undefined;
}

/** Starts Debian's PostgreSQL as its own user on the disk, which needs some 90 megabytes. */
export async function startClusterOnDisk(disk: SmallDisk): Promise<ClusterOnDisk> {
  const programs = findDebianPrograms();
  if (programs === undefined) throw new Error(missingForClusterOnDisk());
  const [enter, ...into] = disk.enter;
  const asUser = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=QUIT"];
  const data = join(disk.folder, "data");
  mkdirSync(join(disk.outside, "data"), { mode: 0o700 });
  execFileSync("chown", ["postgres:postgres", join(disk.outside, "data")]);
  const words = (program: string, ...more: string[]) => [
    ...into,
    ...asUser,
    join(programs, program),
    "-D",
    data,
    ...more,
  ];
  const options = { env: { PATH: process.env.PATH, LC_ALL: "C" }, cwd: "/" };
  const initialise = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-sync", "--wal-segsize=1"];
  execFileSync(enter, words("initdb", ...initialise), { ...options, stdio: ["ignore", "ignore", "pipe"] });
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const settings = ["listen_addresses=127.0.0.1", `port=${port}`, "unix_socket_directories=", "max_wal_size=8MB"];
  let isSupervised = false;
  let server: ChildProcess | undefined;
  const start = () => {
    const started = spawn(enter, words("postgres", ...settings.flatMap((one) => ["-c", one])), {
      ...options,
      stdio: "ignore",
    });
    server = started;
    started.once("exit", () => setTimeout(() => isSupervised && server === started && start(), 500).unref());
  };
  start();
  await untilAnswers(url);
  return {
    url,
    supervise() {
      isSupervised = true;
    },
    async stop() {
      isSupervised = false;
      if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, "exit");
      server.kill("SIGQUIT");
      await ended;
    },
  };
}

async function untilAnswers(url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return;
    } catch (error) {
      if (attempt === 300) throw error;
      await wait(200);
    } finally {
      await client.end().catch(() => {});
    }
  }
}
