import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { Problem } from "./say.ts";

export { freePort } from "../packages/testing/src/free-port.ts";

export const root = join(import.meta.dirname, "..");

/** What runs, and how it is ended. */
const commands = new Map<ChildProcess, () => void>();

/** Stops the commands that `runCommand` runs, so that its callers clean up and end, too. */
export function stopCommands(): void {
  for (const end of commands.values()) end();
}

/** npx passes on no signal: what it has started ends with its group. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGTERM");
  } catch (error) {
    // It has ended meanwhile.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/**
 * Runs a command and waits for its end. Shows its output only if it fails, or always with `stdio: "inherit"`; `onLine` gets
 * each line instead.
 */
export async function runCommand(
  command: string,
  commandArguments: readonly string[],
  options: {
    env?: NodeJS.ProcessEnv;
    stdio?: "inherit" | "capture";
    onLine?: (line: string) => void;
    nextStep?: string;
    /** In a process group of its own, which ends as a whole; a Ctrl-C reaches it only through this process. */
    isGroup?: boolean;
  } = {},
): Promise<string> {
  const isShown = options.stdio === "inherit";
  const { onLine } = options;
  const child = spawn(command, commandArguments, {
    cwd: root,
    env: { ...process.env, ...(isShown || onLine ? {} : { NO_COLOR: "1", FORCE_COLOR: "0" }), ...options.env },
    stdio: isShown ? "inherit" : ["ignore", "pipe", "pipe"],
    detached: options.isGroup === true,
  });
  commands.set(child, () => (options.isGroup ? endGroup(child) : child.kill("SIGTERM")));
  child.once("close", () => commands.delete(child));
  let output = "";
  let errors = "";
  if (onLine) {
    for (const stream of [child.stdout, child.stderr])
      if (stream) createInterface({ input: stream }).on("line", onLine);
  } else {
    child.stdout?.on("data", (chunk) => {
      output += chunk;
    });
    child.stderr?.on("data", (chunk) => {
      errors += chunk;
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code === 0) return output;
  const shown = isShown || onLine ? "" : `:\n${`${output}${errors}`.trim()}`;
  throw new Problem(
    `${command} ${commandArguments.join(" ")} failed${shown}`,
    options.nextStep ?? "Fix that, then run it again.",
  );
}

export interface Server {
  readonly process: ChildProcess;
  /** Resolves when the server listens; rejects with its output when it exits before that. */
  readonly ready: Promise<void>;
  /** The last lines of its output, at most 30. */
  readonly lastLines: readonly string[];
  /** Sends SIGTERM and waits; after 15 s, SIGKILL. */
  stop(): Promise<void>;
}

const running = new Set<Server>();
/** Making a store takes seconds; a slow, busy machine takes longer. */
const READY_WITHIN_MS = 120_000;

/** Stops all servers, the last started first, including those that are still starting. */
export async function stopAllServers(): Promise<void> {
  for (const server of [...running].reverse()) await server.stop();
}

// Servers have process groups of their own, so they would outlive a parent that throws.
process.once("exit", () => {
  for (const server of running) server.process.kill("SIGTERM");
  stopCommands();
});

/**
 * Starts a server in a process group of its own, so that on Ctrl-C this process controls the order in which servers stop.
 * The server is ready when it logs `"msg":"listening"`.
 */
export function startServer(
  name: string,
  script: string,
  env: NodeJS.ProcessEnv,
  options: { readonly onLine?: ((line: string) => void) | undefined; readonly isWatched?: boolean | undefined } = {},
): Server {
  const nodeArguments = ["--disable-sigusr1", ...(options.isWatched ? ["--watch-preserve-output", "--watch"] : [])];
  const preload = ["--import", pathToFileURL(join(root, "scripts/stop-with-parent.ts")).href];
  const child = spawn(process.execPath, [...nodeArguments, ...preload, resolve(root, script)], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const lastLines: string[] = [];
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const ready = new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      for (const line of chunk.toString().split("\n").filter(Boolean)) {
        lastLines.push(line);
        if (lastLines.length > 30) lastLines.shift();
        options.onLine?.(line);
        if (line.includes('"msg":"listening"')) resolve();
      }
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", reject);
    const tooLate = () => {
      const said = lastLines.join("\n  ") || "It printed nothing; set LOG_LEVEL=info to see its log.";
      reject(new Problem(`The ${name} was not ready after ${READY_WITHIN_MS / 1000} s.`, said));
    };
    setTimeout(tooLate, READY_WITHIN_MS).unref();
    void exited.then((code) =>
      reject(
        new Problem(
          `The ${name} ended before it was ready (exit ${code}).`,
          lastLines.join("\n  ") || "It printed nothing.",
        ),
      ),
    );
  });
  ready.catch(() => {});
  const server: Server = {
    process: child,
    ready,
    lastLines,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const giveUp = setTimeout(() => child.kill("SIGKILL"), 15_000);
      await exited;
      clearTimeout(giveUp);
    },
  };
  running.add(server);
  void exited.then(() => running.delete(server));
  return server;
}

export async function assertPortFree(port: number, name: string, variable: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", () =>
      reject(
        new Problem(
          `Port ${port}, needed by the ${name}, is used by another program.`,
          `Stop that program, or choose another port: ${variable}=${port + 100} npm start`,
        ),
      ),
    );
    server.listen(port, "127.0.0.1", resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}
