import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, openSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parse } from "yaml";
import { askServer } from "../../packages/testing/src/copy-database.ts";
import { findDebianPrograms } from "../../packages/testing/src/temporary-cluster.ts";
import { root } from "../../scripts/processes.ts";

/** A member of the cluster, as Patroni's agents describe it. */
interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

export interface PatroniCluster {
  /** The application's database on the primary, through HAProxy. */
  readonly databaseUrl: string;
  /** The same on the replicas. */
  readonly replicaUrl: string;
  /** Seconds after which a primary that is silent loses its role. */
  readonly ttlSeconds: number;
  members(): Promise<readonly Member[]>;
  /** SIGKILL for a node's agent and its PostgreSQL. */
  kill(name: string): Promise<void>;
  start(name: string): void;
  /** Takes a node's network away, without an answer to anybody. */
  cut(name: string): void;
  mend(name: string): void;
  /** Asks the primary to hand its role to the synchronous standby; resolves with Patroni's answer. */
  switchOver(primary: string): Promise<string>;
  /** Waits until one node is the primary, another its synchronous standby, and all run. */
  untilWhole(withinMs: number): Promise<void>;
  stop(): Promise<void>;
}

const programs = ["patroni", "etcd", "haproxy", "setpriv", "unshare", "nsenter", "ip"];

/** Why no cluster can run here, in one line; undefined if one can. */
export function missingForPatroni(): string | undefined {
  if (process.getuid?.() !== 0) return "network namespaces need root";
  const missing = programs.filter((name) => pathOf(name) === undefined);
  if (missing.length > 0 || findDebianPrograms() === undefined)
    return "Enable it: apt-get install postgresql patroni etcd-server haproxy iproute2";
  return undefined;
}

function pathOf(program: string): string | undefined {
  const { status, stdout } = spawnSync("which", [program], {
    encoding: "utf8",
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
  });
  return status === 0 ? stdout.trim() : undefined;
}

/** Seconds on a quiet machine: two copies of an empty cluster, and a few rounds of the agents. */
const START_WITHIN_MS = 300_000;

const nodes = [1, 2, 3].map((number) => ({ number, name: `pg${number}`, address: `10.0.0.1${number}` }));
type Node = (typeof nodes)[number];
const names = nodes.map(({ name }) => name);

const samples = join(root, "deploy/patroni");
const config = parse(readFileSync(join(samples, "patroni.yaml"), "utf8"));
const ttlSeconds: number = config.bootstrap.dcs.ttl;

/** The command of docs/operate.md that writes a node's two files. */
function writeFilesOf({ number }: Node): string {
  const page = readFileSync(join(root, "docs/operate.md"), "utf8");
  const [, command] = /```sh\n +node=1\n([^`]*etcd\.env\.example[^`]*)```/.exec(page) ?? [];
  if (command === undefined) throw new Error("docs/operate.md has no command that writes a node's files");
  return `node=${number}\n${command}`;
}

const run = (program: string, ...words: readonly string[]) => execFileSync(program, words, { encoding: "utf8" });

/** Runs the calling script again, in namespaces of its own; resolves with its exit code. */
export async function inOwnNamespaces(script: string, words: readonly string[]): Promise<number> {
  const command = ["--pdeathsig", "TERM", "unshare", "--net", "--mount", process.execPath, script, ...words];
  const child = spawn("setpriv", command, { stdio: "inherit", env: { ...process.env, [inside]: "true" } });
  const [code] = await once(child, "exit");
  return code ?? 1;
}

const inside = "INTERMISSION_OWN_NAMESPACES";
export const isInOwnNamespaces = () => process.env[inside] === "true";

interface Machine {
  /** The words of nsenter. */
  readonly enter: readonly string[];
  /** Lives as long as the machine. */
  readonly holder: ChildProcess;
}

/** A machine: a network of its own, behind one cable, and folders of its own where the files of the sample lie. */
async function openMachine(node: Node, folder: string): Promise<Machine> {
  const holder = spawn("setpriv", ["--pdeathsig", "KILL", "unshare", "--net", "--mount", "sleep", "infinity"]);
  const network = () => readlinkSync(`/proc/${holder.pid}/ns/mnt`);
  while (network() === readlinkSync("/proc/self/ns/mnt")) await wait(10);
  const enter = ["--net", "--mount", "--target", String(holder.pid)];
  const cable = `cable${node.number}`;
  run("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", String(holder.pid));
  run("ip", "link", "set", cable, "master", "intermission", "up");
  const places = { "/etc/default": "", "/etc/patroni": "", "/var/lib/postgresql": "postgres" };
  const all = { ...places, "/run/postgresql": "postgres", "/var/lib/etcd": "etcd" };
  const script = [
    "ip link set lo up",
    `ip address add ${node.address}/24 dev eth0`,
    "ip link set eth0 up",
    // This machine must not be restarted.
    "[ ! -e /dev/watchdog ] || mount --bind /dev/null /dev/watchdog",
  ];
  for (const [place, owner] of Object.entries(all)) {
    const own = join(folder, node.name, place);
    mkdirSync(own, { recursive: true });
    if (owner !== "") run("chown", `${owner}:${owner}`, own);
    script.push(`mount --bind ${own} ${place}`);
  }
  run("nsenter", ...enter, "sh", "-euc", `${script.join("\n")}\ncd ${samples}\n${writeFilesOf(node)}`);
  return { enter, holder };
}

/**
 * Three machines with PostgreSQL under Patroni and etcd, and HAProxy on this one, all by the files of `deploy/patroni` as they
 * stand. They end with this process, which must be in namespaces of its own.
 */
export async function startPatroniCluster(): Promise<PatroniCluster> {
  const folder = mkdtempSync("/tmp/intermission-patroni-");
  chmodSync(folder, 0o755);
  run("ip", "link", "set", "lo", "up");
  run("ip", "link", "add", "intermission", "type", "bridge");
  run("ip", "address", "add", "10.0.0.1/24", "dev", "intermission");
  run("ip", "link", "set", "intermission", "up");

  const children = new Map<string, ChildProcess>();
  const begin = (name: string, words: readonly string[]) => {
    const log = openSync(join(folder, `${name}.log`), "a");
    const [program = "", ...rest] = words;
    const env = { PATH: `${process.env.PATH}:/usr/sbin`, HOME: folder, LC_ALL: "C.UTF-8" };
    children.set(name, spawn(program, rest, { cwd: folder, env, stdio: ["ignore", log, log] }));
  };
  // SIGTERM when this process ends, however it ends: Patroni then stops its PostgreSQL.
  const as = (user: string) => ["setpriv", "--reuid", user, "--regid", user, "--init-groups", "--pdeathsig", "TERM"];
  const machines = new Map<string, Machine>();
  for (const node of nodes) machines.set(node.name, await openMachine(node, folder));
  const on = (name: string) => ["nsenter", ...(machines.get(name)?.enter ?? [])];
  const start = (name: string) => begin(name, [...on(name), ...as("postgres"), "patroni", "/etc/patroni/config.yml"]);
  for (const name of names) {
    const service = "set -a; . /etc/default/etcd; exec etcd";
    begin(`etcd-${name}`, [...on(name), ...as("etcd"), "sh", "-euc", service]);
    start(name);
  }
  begin("haproxy", ["setpriv", "--pdeathsig", "TERM", "haproxy", "-db", "-f", join(samples, "haproxy.cfg")]);

  const end = async (name: string, signal: NodeJS.Signals) => {
    const child = children.get(name);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  };
  const { username, password } = config.postgresql.authentication.superuser;
  const numberOf = (name: string) => nodes.find((one) => one.name === name)?.number;
  const cluster: PatroniCluster = {
    databaseUrl: "postgres://intermission:application@127.0.0.1:5000/intermission",
    replicaUrl: "postgres://intermission:application@127.0.0.1:5001/intermission",
    ttlSeconds,
    members: async () => (await viewsNow())[0] ?? [],
    start,
    cut: (name) => void run("ip", "link", "set", `cable${numberOf(name)}`, "down"),
    mend: (name) => void run("ip", "link", "set", `cable${numberOf(name)}`, "up"),
    async kill(name) {
      const data = join(folder, name, config.postgresql.data_dir);
      const postmaster = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
      const agent = end(name, "SIGKILL");
      process.kill(postmaster, "SIGKILL");
      await agent;
    },
    async switchOver(primary) {
      const address = nodes.find(({ name }) => name === primary)?.address;
      const answer = await fetch(`http://${address}:8008/switchover`, {
        method: "POST",
        body: JSON.stringify({ leader: primary }),
      });
      return `${answer.status} ${await answer.text()}`;
    },
    untilWhole,
    async stop() {
      await Promise.all(names.map((name) => end(name, "SIGTERM")));
      await Promise.all(["haproxy", ...names.map((name) => `etcd-${name}`)].map((name) => end(name, "SIGTERM")));
      for (const { holder } of machines.values()) holder.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await cluster.untilWhole(START_WITHIN_MS);
    const administrator = `postgres://${username}:${password}@127.0.0.1:5000/postgres`;
    await askServer(administrator, "create role intermission login password 'application'");
    await askServer(administrator, "create database intermission owner intermission");
  } catch (error) {
    const said = [...children.keys()].map((name) => readFileSync(join(folder, `${name}.log`), "utf8").slice(-1500));
    await cluster.stop();
    throw new Error(`the cluster did not start: ${said.join("\n---\n")}`, { cause: error });
  }
  return cluster;
}

/** As each agent that answers sees the cluster: one that was cut off may still see what was before. */
async function viewsNow(): Promise<readonly (readonly Member[])[]> {
  const views = await Promise.all(
    nodes
      .map(async ({ address }) => {
        const answer = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(2000) });
        return ((await answer.json()) as { members: Member[] }).members;
      })
      .map((view) => view.catch(() => undefined)),
  );
  return views.filter((view) => view !== undefined);
}

function isWhole(members: readonly Member[]): boolean {
  const count = (role: string) => members.filter((one) => one.role === role).length;
  const isRunning = ({ state }: Member) => state === "running" || state === "streaming";
  return (
    members.length === names.length && members.every(isRunning) && count("leader") === 1 && count("sync_standby") === 1
  );
}

/** All agents agree. */
async function untilWhole(withinMs: number): Promise<void> {
  const until = Date.now() + withinMs;
  let last: readonly (readonly Member[])[] = [];
  while (Date.now() < until) {
    last = await viewsNow();
    const leaders = new Set(last.map((members) => members.find(({ role }) => role === "leader")?.name));
    if (last.length === names.length && last.every(isWhole) && leaders.size === 1) return;
    await wait(250);
  }
  throw new Error(`the cluster was not whole in ${withinMs / 1000} s: ${JSON.stringify(last)}`);
}
