import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parse, stringify } from "yaml";
import { askServer } from "../../packages/testing/src/copy-database.ts";
import { findDebianPrograms } from "../../packages/testing/src/temporary-cluster.ts";
import { freePort, root } from "../../scripts/processes.ts";

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
  /** Asks the primary to hand its role to the synchronous standby; resolves with Patroni's answer. */
  switchOver(primary: string): Promise<string>;
  /** Waits until one node is the primary, another its synchronous standby, and all run. */
  untilWhole(withinMs: number): Promise<void>;
  stop(): Promise<void>;
}

const programs = ["patroni", "etcd", "haproxy", "setpriv"];

/** Why no cluster can run here, in one line; undefined if one can. */
export function missingForPatroni(): string | undefined {
  if (process.getuid?.() !== 0) return "starting PostgreSQL as its own user needs root";
  const missing = programs.filter((name) => pathOf(name) === undefined);
  if (missing.length > 0 || findDebianPrograms() === undefined)
    return "Enable it: apt-get install postgresql patroni etcd-server haproxy";
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

const names = ["pg1", "pg2", "pg3"];
const passwords = ["replace-1", "replace-2", "replace-3"];

interface Place {
  readonly name: string;
  readonly port: number;
  readonly apiPort: number;
  readonly data: string;
  readonly config: string;
}

/**
 * Three nodes of PostgreSQL under Patroni, one etcd and one HAProxy, all by the files of `deploy/patroni`, in which only
 * addresses, paths and passwords differ. They end with this process.
 */
export async function startPatroniCluster(): Promise<PatroniCluster> {
  const folder = mkdtempSync("/tmp/intermission-patroni-");
  const places = await Promise.all(
    names.map(async (name) => ({
      name,
      port: await freePort(),
      apiPort: await freePort(),
      data: join(folder, name, "data"),
      config: join(folder, `${name}.yaml`),
    })),
  );
  const etcd = { client: await freePort(), peer: await freePort() };
  const balancer = { primary: await freePort(), replicas: await freePort() };
  const secrets = passwords.map(() => randomBytes(18).toString("base64url"));
  const withSecrets = (text: string) =>
    passwords.reduce((done, placeholder, index) => done.replaceAll(placeholder, secrets[index] ?? ""), text);
  for (const place of places) {
    mkdirSync(join(folder, place.name));
    writeFileSync(place.config, withSecrets(configOf(place, { folder, etcdPort: etcd.client })));
  }
  writeFileSync(join(folder, "haproxy.cfg"), balancerConfigOf(places, balancer));
  execFileSync("chown", ["-R", "postgres:postgres", folder]);
  chmodSync(folder, 0o700);

  const children = new Map<string, ChildProcess>();
  const run = (name: string, words: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const log = openSync(join(folder, `${name}.log`), "a");
    // SIGTERM when this process ends, however it ends: Patroni then stops its PostgreSQL.
    const asUser = ["--reuid", "postgres", "--regid", "postgres", "--init-groups", "--pdeathsig", "TERM"];
    const options = { cwd: folder, env: { PATH: process.env.PATH, HOME: folder, LC_ALL: "C.UTF-8", ...env } };
    children.set(name, spawn("setpriv", [...asUser, ...words], { ...options, stdio: ["ignore", log, log] }));
  };
  const start = (name: string) => run(name, [pathOf("patroni") ?? "", join(folder, `${name}.yaml`)]);
  run("etcd", [pathOf("etcd") ?? ""], etcdVariables(folder, etcd));
  for (const { name } of places) start(name);
  run("haproxy", [pathOf("haproxy") ?? "", "-db", "-f", join(folder, "haproxy.cfg")]);

  const end = async (name: string, signal: NodeJS.Signals) => {
    const child = children.get(name);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  };
  const members = () => membersOf(places);
  const address = (port: number, database: string, user = "postgres", password = secrets[0]) =>
    `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  const cluster: PatroniCluster = {
    databaseUrl: address(balancer.primary, "intermission", "intermission", "application"),
    replicaUrl: address(balancer.replicas, "intermission", "intermission", "application"),
    ttlSeconds: ttlOf(places[0]),
    members,
    start,
    async kill(name) {
      const place = places.find((one) => one.name === name);
      const postmaster = Number(readFileSync(join(place?.data ?? "", "postmaster.pid"), "utf8").split("\n")[0]);
      const agent = end(name, "SIGKILL");
      process.kill(postmaster, "SIGKILL");
      await agent;
    },
    async switchOver(primary) {
      const { apiPort } = places.find(({ name }) => name === primary) ?? {};
      const answer = await fetch(`http://127.0.0.1:${apiPort}/switchover`, {
        method: "POST",
        body: JSON.stringify({ leader: primary }),
      });
      return `${answer.status} ${await answer.text()}`;
    },
    untilWhole: (withinMs) => untilWhole(members, withinMs),
    async stop() {
      await Promise.all(names.map((name) => end(name, "SIGTERM")));
      await Promise.all(["haproxy", "etcd"].map((name) => end(name, "SIGTERM")));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await cluster.untilWhole(START_WITHIN_MS);
    const administrator = address(balancer.primary, "postgres");
    await askServer(administrator, "create role intermission login password 'application'");
    await askServer(administrator, "create database intermission owner intermission");
  } catch (error) {
    const said = [...names, "etcd", "haproxy"].map((name) =>
      readFileSync(join(folder, `${name}.log`), "utf8").slice(-1500),
    );
    await cluster.stop();
    throw new Error(`the cluster did not start: ${said.join("\n---\n")}`, { cause: error });
  }
  return cluster;
}

const sampleOf = (file: string) => readFileSync(join(root, "deploy/patroni", file), "utf8");

function configOf(place: Place, { folder, etcdPort }: { folder: string; etcdPort: number }): string {
  const config = parse(sampleOf("patroni.yaml"));
  const ofNode = `127.0.0.1:${place.port}`;
  return stringify({
    ...config,
    name: place.name,
    restapi: { listen: `127.0.0.1:${place.apiPort}`, connect_address: `127.0.0.1:${place.apiPort}` },
    etcd3: { hosts: [`127.0.0.1:${etcdPort}`] },
    postgresql: {
      ...config.postgresql,
      listen: ofNode,
      connect_address: ofNode,
      data_dir: place.data,
      bin_dir: findDebianPrograms(),
      pgpass: join(folder, `${place.name}.pgpass`),
      parameters: { ...config.postgresql.parameters, unix_socket_directories: join(folder, place.name) },
      pg_hba: config.postgresql.pg_hba.map((line: string) => line.replace("10.0.0.0/24", "127.0.0.1/32")),
    },
    // This machine must not be restarted.
    watchdog: { mode: "off" },
  });
}

function ttlOf(place: Place | undefined): number {
  return parse(readFileSync(place?.config ?? "", "utf8")).bootstrap.dcs.ttl;
}

function balancerConfigOf(places: readonly Place[], ports: { primary: number; replicas: number }): string {
  const config = sampleOf("haproxy.cfg")
    .replaceAll(/^ +(user|group) haproxy\n/gm, "")
    .replace("bind 127.0.0.1:5000", `bind 127.0.0.1:${ports.primary}`)
    .replace("bind 127.0.0.1:5001", `bind 127.0.0.1:${ports.replicas}`);
  return places.reduce(
    (done, { name, port, apiPort }) =>
      done.replaceAll(
        new RegExp(`server ${name} \\S+ check port 8008`, "g"),
        `server ${name} 127.0.0.1:${port} check port ${apiPort}`,
      ),
    config,
  );
}

/** One member instead of three. */
function etcdVariables(folder: string, { client, peer }: { client: number; peer: number }): NodeJS.ProcessEnv {
  const lines = sampleOf("etcd.env.example").split("\n");
  const pairs = lines.flatMap((line) => (/^ETCD_/.test(line) ? [line.split(/=(.*)/s).slice(0, 2)] : []));
  const inTest = pairs.map(([name = "", value = ""]) => [
    name,
    value
      .replace(/,.*$/, "")
      .replace("10.0.0.11:2379", `127.0.0.1:${client}`)
      .replace("10.0.0.11:2380", `127.0.0.1:${peer}`),
  ]);
  return { ...Object.fromEntries(inTest), ETCD_DATA_DIR: join(folder, "etcd") };
}

/** By the first agent that answers. */
async function membersOf(places: readonly Place[]): Promise<readonly Member[]> {
  for (const { apiPort } of places) {
    const answer = await fetch(`http://127.0.0.1:${apiPort}/cluster`, { signal: AbortSignal.timeout(2000) }).catch(
      () => undefined,
    );
    if (answer !== undefined) return ((await answer.json()) as { members: Member[] }).members;
  }
  return [];
}

async function untilWhole(members: () => Promise<readonly Member[]>, withinMs: number): Promise<void> {
  const until = Date.now() + withinMs;
  let last: readonly Member[] = [];
  while (Date.now() < until) {
    last = await members();
    const count = (role: string) => last.filter((one) => one.role === role).length;
    const isRunning = ({ state }: Member) => state === "running" || state === "streaming";
    if (last.length === names.length && last.every(isRunning) && count("leader") === 1 && count("sync_standby") === 1)
      return;
    await wait(250);
  }
  throw new Error(`the cluster was not whole in ${withinMs / 1000} s: ${JSON.stringify(last)}`);
}
