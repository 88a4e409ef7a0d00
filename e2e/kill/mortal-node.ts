import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Server, startServer } from "../../scripts/processes.ts";
import type { Role } from "./crash-steps.ts";
import { withRetries } from "./with-retries.ts";

/** A real server that can be killed at a given step. */
export interface MortalNode {
  readonly name: string;
  readonly role: Role;
  readonly url: string;
  readonly isUp: boolean;
  /** Kills the server when it has passed `step` `count` times. */
  arm(step: string, count: number): void;
  disarm(): void;
  kill(): Promise<void>;
  /** Starts the server; retries while the database refuses connections, as a supervisor would. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const mains: Record<Role, string> = {
  "ad-service": "apps/ad-service/src/main.ts",
  api: "apps/api/src/main.ts",
};
const preload = pathToFileURL(join(import.meta.dirname, "crash-at-step.ts")).href;

export function mortalNode(options: {
  readonly name: string;
  readonly role: Role;
  readonly port: number;
  /** An existing folder for its log and other files. */
  readonly dataDirectory: string;
  /** Called at each start. */
  readonly environment: () => NodeJS.ProcessEnv;
}): MortalNode {
  const { name, role, port, dataDirectory } = options;
  const crashFile = join(dataDirectory, `${name}.crash-at`);
  let server: Server | undefined;

  function arm(text: string): void {
    writeFileSync(crashFile, text);
    server?.process.kill("SIGUSR2");
  }

  async function startOnce(): Promise<true> {
    const environment = options.environment();
    const env = {
      ...environment,
      NODE_OPTIONS: `--import=${preload} ${environment.NODE_OPTIONS ?? ""}`,
      CRASH_AT_FILE: crashFile,
      NODE_COMPILE_CACHE: join(dataDirectory, "compile-cache"),
    };
    const onLine = (line: string) => appendFileSync(join(dataDirectory, `${name}.log`), `${line}\n`);
    server = startServer(name, mains[role], env, { onLine });
    await server.ready;
    return true;
  }

  return {
    name,
    role,
    url: `http://127.0.0.1:${port}`,
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
      await withRetries(`starting ${name}`, startOnce, { withinMs: 60_000 });
    },
    async stop() {
      await server?.stop();
    },
  };
}

function isUp(process: ChildProcess | undefined): boolean {
  return process !== undefined && process.exitCode === null && process.signalCode === null;
}
