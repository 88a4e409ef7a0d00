import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect } from "@playwright/test";
import { root } from "../../scripts/processes.ts";

/** npm downloads packages and Node, and the machine may be busy. */
const STEP_MS = 8 * 60_000;

/** A folder with a clone of this repository, `intermission`, which includes uncommitted changes, and shells in it. */
export function makeCleanClone() {
  const folder = mkdtempSync(join(tmpdir(), "intermission-clone-"));
  const clone = join(folder, "intermission");
  execFileSync("git", ["clone", "--quiet", root, clone]);
  const git = (...words: string[]) =>
    execFileSync("git", words, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
  const changed = [
    ...git("diff", "HEAD", "--name-only", "-z"),
    ...git("ls-files", "-z", "--others", "--exclude-standard"),
  ];
  for (const file of changed) {
    if (existsSync(join(root, file))) cpSync(join(root, file), join(clone, file));
    else rmSync(join(clone, file), { force: true });
  }
  const background: ChildProcess[] = [];
  return {
    folder,
    clone,

    /** Runs a block of shell commands and returns what it printed. */
    async run(block: string, cwd = clone): Promise<string> {
      const shell = spawn("sh", ["-e", "-c", block], { cwd, env: freshMachine(), timeout: STEP_MS });
      const output = outputOf(shell);
      const code = await new Promise((resolve) => shell.once("close", resolve));
      expect(code, `${block}\n${output()}`).toBe(0);
      return output();
    },

    /** Starts a block that keeps running, as in its own terminal, until `isUp` holds. Returns what gives its output so far. */
    async start(
      block: string,
      isUp: (output: string) => Promise<boolean> | boolean,
      cwd = clone,
    ): Promise<() => string> {
      const shell = spawn("sh", ["-e", "-c", block], { cwd, env: freshMachine(), detached: true });
      background.push(shell);
      const output = outputOf(shell);
      await expect
        .poll(async () => shell.exitCode !== null || (await isUp(output())), { timeout: STEP_MS, intervals: [200] })
        .toBe(true);
      expect(shell.exitCode, `${block}\n${output()}`).toBeNull();
      return output;
    },

    async remove(): Promise<void> {
      for (const { pid } of background.toReversed()) {
        if (pid === undefined || !signalGroup(pid, "SIGTERM")) continue;
        // The shell ends at once; what it has started still writes its files.
        await expect.poll(() => signalGroup(pid, 0), { timeout: 60_000, intervals: [100] }).toBe(false);
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Whether there is a process of the group. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** A sample runs as it stands, at its own ports: says so where something else on this machine has one of them. */
export async function expectFreePorts(...ports: number[]): Promise<void> {
  for (const port of ports)
    expect(await isOpen("127.0.0.1", port), `port ${port} is in use: end what listens there, then repeat`).toBe(false);
}

export function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port }, () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

/**
 * The environment of a machine with git, its own Node and npm: none of this repository's tools or the test's settings. Its
 * certificates stay, since npm cannot reach a registry without them.
 */
function freshMachine(): NodeJS.ProcessEnv {
  const { HOME, LANG, NODE_EXTRA_CA_CERTS, PATH = "", SSL_CERT_DIR, SSL_CERT_FILE } = process.env;
  const folders = PATH.split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return { HOME, LANG, NODE_EXTRA_CA_CERTS, SSL_CERT_DIR, SSL_CERT_FILE, PATH: folders.join(delimiter) };
}

function outputOf(shell: ChildProcess): () => string {
  let output = "";
  for (const stream of [shell.stdout, shell.stderr]) stream?.on("data", (chunk) => (output += chunk));
  return () => output;
}
