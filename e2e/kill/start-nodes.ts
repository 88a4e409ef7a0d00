import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type DemoSecrets, demoSecrets } from "../../scripts/demo-secrets.ts";
import { environmentOf } from "../../scripts/demo-stack.ts";
import { freePort, root, runCommand, startServer } from "../../scripts/processes.ts";
import { seedDemo } from "../../scripts/seed-demo.ts";
import type { Role } from "./death-steps.ts";
import { patiently } from "./patiently.ts";
import { openTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

export interface Node {
  readonly name: string;
  readonly role: Role;
  readonly url: string;
  readonly isUp: boolean;
  /** It will die when it has passed `step` so often. */
  arm(step: string, count: number): void;
  disarm(): void;
  kill(): Promise<void>;
  /** Starts it; again and again while the database lets no one in, as a supervisor would. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface Nodes {
  readonly secrets: DemoSecrets;
  readonly all: readonly Node[];
  readonly apis: readonly Node[];
  /** Load balancers before the nodes: what everybody else knows of them. */
  readonly adServiceUrl: string;
  readonly apiUrl: string;
  /** How often each event arrived at the API, by its id. */
  readonly arrivals: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

export interface NodesOptions {
  readonly dataDirectory: string;
  readonly adServices: number;
  readonly apis: number;
  /** Without it each server, of which there is one then, uses its embedded store. */
  readonly databaseUrl?: string | undefined;
}

const mains: Record<Role, string> = {
  "ad-service": "apps/ad-service/src/main.ts",
  api: "apps/api/src/main.ts",
};

/** Starts real servers that can be told where to die, each kind behind a load balancer of its own, and seeds them. */
export async function startNodes(options: NodesOptions): Promise<Nodes> {
  const { dataDirectory } = options;
  let secrets = demoSecrets(dataDirectory);
  const ports: Record<Role, number[]> = {
    "ad-service": await Promise.all(Array.from({ length: options.adServices }, freePort)),
    api: await Promise.all(Array.from({ length: options.apis }, freePort)),
  };
  const arrivals = new Map<string, number>();
  const adServiceProxy = await openTcpProxy({ targets: ports["ad-service"] });
  const apiProxy = await openTcpProxy({ targets: ports.api, onSent: (chunk) => countWebhooks(chunk, arrivals) });
  const urls = { adService: urlOf(adServiceProxy.port), api: urlOf(apiProxy.port), demoBot: "http://127.0.0.1:9" };
  const settings = { video: join(root, "e2e/fixtures/clip-2s.mp4"), cooldownSeconds: 0, dailyCap: 10_000 };
  const environment = (role: Role, port: number) => ({
    ...environmentOf(
      role,
      secrets,
      { ...options, ...settings, hasChat: false, ports: { adService: port, api: port, demoBot: 9 } },
      urls,
    ),
    ...{ TRUST_PROXY: "127.0.0.1", RATE_LIMIT_PER_TOKEN: "10000", RATE_LIMIT_PER_USER: "10000" },
  });
  const nodesOf = (role: Role) =>
    ports[role].map((port, index) => mortalNode(`${role}-${index + 1}`, role, port, dataDirectory, environment));
  const adServices = nodesOf("ad-service");
  const apis = nodesOf("api");
  const all = [...adServices, ...apis];
  const ads = (commandArguments: readonly string[]) =>
    runCommand(process.execPath, [join(root, "apps/ad-service/src/cli.ts"), ...commandArguments], {
      env: { ADS_URL: urls.adService, OPERATOR_TOKEN: secrets.operatorToken },
    });
  const stop = async () => {
    await Promise.all(all.map((node) => node.stop()));
    await Promise.all([adServiceProxy.close(), apiProxy.close()]);
  };
  try {
    await Promise.all(adServices.map((node) => node.start()));
    secrets = { ...secrets, adApiToken: await seedDemo({ ...settings, ads, secrets, urls }) };
    await Promise.all(apis.map((node) => node.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return { secrets, all, apis, adServiceUrl: urls.adService, apiUrl: urls.api, arrivals, stop };
}

function mortalNode(
  name: string,
  role: Role,
  port: number,
  dataDirectory: string,
  environment: (role: Role, port: number) => NodeJS.ProcessEnv,
): Node {
  const deathFile = join(dataDirectory, `${name}.die-at`);
  const preload = pathToFileURL(join(import.meta.dirname, "die-at-step.ts")).href;
  const logFile = join(dataDirectory, `${name}.log`);
  let server: ReturnType<typeof startServer> | undefined;
  const arm = (text: string) => {
    writeFileSync(deathFile, text);
    server?.process.kill("SIGUSR2");
  };
  return {
    name,
    role,
    url: urlOf(port),
    get isUp() {
      return isUp(server?.process);
    },
    arm: (step, count) => arm(`${step}:${count}`),
    disarm: () => arm(""),
    async kill() {
      const process = server?.process;
      if (!process || !isUp(process)) return;
      const ended = once(process, "exit");
      process.kill("SIGKILL");
      await ended;
    },
    async start() {
      mkdirSync(dataDirectory, { recursive: true });
      const start = async () => {
        const env = { ...environment(role, port), NODE_OPTIONS: `--import=${preload}`, DIE_AT_FILE: deathFile };
        server = startServer(name, mains[role], env, { onLine: (line) => appendFileSync(logFile, `${line}\n`) });
        await server.ready;
        return true;
      };
      await patiently(`starting ${name}`, start, { withinMs: 60_000 });
    },
    async stop() {
      await server?.stop();
    },
  };
}

function isUp(process: ChildProcess | undefined): boolean {
  return process !== undefined && process.exitCode === null && process.signalCode === null;
}

function countWebhooks(chunk: Buffer, arrivals: Map<string, number>): void {
  for (const [, eventId = ""] of chunk.toString("latin1").matchAll(/^webhook-id: (\S+)\r$/gim)) {
    arrivals.set(eventId, (arrivals.get(eventId) ?? 0) + 1);
  }
}

function urlOf(port: TcpProxy["port"]): string {
  return `http://127.0.0.1:${port}`;
}
