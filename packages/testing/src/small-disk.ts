import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, closeSync, fstatSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** A file system of a few megabytes, for tests with a full disk. */
export interface SmallDisk {
  /** The mount point, visible to processes that are started with `enter`. */
  readonly folder: string;
  /** The same folder for processes that are started without them. */
  readonly outside: string;
  /** The words to put before a command, so that it sees the disk. */
  readonly enter: readonly [string, ...string[]];
  /** Writes a file until the disk is full, or until this many megabytes are left. */
  fill(options?: { readonly leaveMegabytes?: number }): void;
  /** Removes the file that `fill` wrote. */
  free(): void;
  makeReadOnly(): void;
  remove(): Promise<void>;
}

/**
 * Mounts a tmpfs in a separate mount namespace that a child process keeps open: nothing is mounted on the machine itself,
 * and the disk ends with the child, however this process ends. Works for root, and for users who may create user namespaces.
 * Throws where neither is possible.
 */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk> {
  // PostgreSQL's user must reach it, so it is not in the folder of this test run, which root alone may enter.
  const mountPoint = mkdtempSync("/tmp/small-disk-");
  chmodSync(mountPoint, 0o755);
  const isRoot = process.getuid?.() === 0;
  const namespaces = isRoot ? ["--mount"] : ["--user", "--map-root-user", "--mount"];
  const script = `mount -t tmpfs -o size=${megabytes}m,mode=0777 tmpfs "$1" && echo mounted && exec cat`;
  const holder = spawn("unshare", [...namespaces, "sh", "-c", script, "sh", mountPoint], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  try {
    await untilMounted(holder);
  } catch (error) {
    rmSync(mountPoint, { recursive: true, force: true });
    throw error;
  }
  const outside = join(`/proc/${holder.pid}/root`, mountPoint);
  const ballast = join(outside, "ballast");
  const ofUser = isRoot ? [] : ["--user", "--preserve-credentials"];
  const enter = ["nsenter", `--target=${holder.pid}`, "--mount", ...ofUser, "--"] as const;
  return {
    folder: mountPoint,
    outside,
    enter,
    fill({ leaveMegabytes = 0 } = {}) {
      const file = openSync(ballast, "a");
      try {
        fillUp(file);
        const { size } = fstatSync(file);
        if (leaveMegabytes > 0) ftruncateSync(file, Math.max(0, size - leaveMegabytes * 1024 * 1024));
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(ballast),
    makeReadOnly() {
      const [program, ...before] = enter;
      execFileSync(program, [...before, "mount", "-o", "remount,ro", mountPoint]);
    },
    async remove() {
      const ended = new Promise((resolve) => holder.once("close", resolve));
      // `cat` ends with its input, and the mount ends with `cat`.
      holder.stdin?.end();
      await ended;
      rmSync(mountPoint, { recursive: true, force: true });
    },
  };
}

function untilMounted(holder: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    const fail = (reason: string) =>
      reject(
        new Error(`no small disk can be mounted here (${reason}): run as root, or allow unprivileged user namespaces`),
      );
    holder.once("error", (error) => fail(error.message));
    holder.stderr?.on("data", (chunk) => {
      output += chunk;
    });
    holder.once("close", () => fail(output.trim()));
    holder.stdout?.once("data", () => resolve());
  });
}

/** Writes large blocks first and single bytes last, so that few calls are needed. */
function fillUp(file: number): void {
  for (const size of [1024 * 1024, 4096, 1]) {
    const block = Buffer.alloc(size);
    try {
      for (;;) writeSync(file, block);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    }
  }
}
