import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync } from "node:fs";
import { open, opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import { StoreFault } from "./store-faults.ts";

/** Reports long work: the step, and how many of its bytes are done; 0 of 0 for a step whose length is unknown. */
export type Progress = (step: string, doneBytes: number, totalBytes: number) => void;

interface FoundEntry {
  /** Relative to the folder, with "/". */
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly bytes: number;
}

/**
 * The files and folders below a folder, each folder before its contents, without sockets and pipes. What disappears
 * meanwhile is left out.
 */
export async function* entriesBelow(
  folder: string,
  isLeftOut: (path: string) => boolean = () => false,
  inside = "",
): AsyncGenerator<FoundEntry> {
  const entries = await opendir(join(folder, inside)).catch(undefinedIfGone);
  for await (const entry of entries ?? []) {
    const path = inside === "" ? entry.name : `${inside}/${entry.name}`;
    if (isLeftOut(path)) continue;
    const found = await stat(join(folder, path)).catch(undefinedIfGone);
    if (found?.isFile()) yield { path, kind: "file", bytes: found.size };
    if (!found?.isDirectory()) continue;
    if (entry.isSymbolicLink()) {
      throw new StoreFault(
        `${join(folder, path)} is a link to a folder, which a backup does not follow: move the folder`,
      );
    }
    yield { path, kind: "folder", bytes: 0 };
    yield* entriesBelow(folder, isLeftOut, path);
  }
}

/** The bytes of all files below a folder. */
export async function bytesBelow(folder: string, isLeftOut?: (path: string) => boolean): Promise<number> {
  let sum = 0;
  for await (const { bytes } of entriesBelow(folder, isLeftOut)) sum += bytes;
  return sum;
}

interface FileSum {
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

const CHUNK_BYTES = 1024 * 1024;

/**
 * Copies a file with its time and syncs the copy: `maxBytes` at most, since another process may append to it all the time.
 * The copy has mode 0600, or `mode`. Undefined if the file is gone.
 */
export async function copyFile(
  from: string,
  to: string,
  { maxBytes = Number.POSITIVE_INFINITY, mode = 0o600 }: { readonly maxBytes?: number; readonly mode?: number } = {},
): Promise<FileSum | undefined> {
  const source = await open(from, "r").catch(undefinedIfGone);
  if (source === undefined) return undefined;
  try {
    const target = await open(to, "w", mode);
    try {
      const sum = await readAll(source, maxBytes, (chunk) => target.writeFile(chunk));
      const { atime, mtime } = await source.stat();
      await target.utimes(atime, mtime);
      await target.sync();
      return sum;
    } catch (error) {
      throw faultOfFullDisk(to, error);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** The sum of a file's bytes. */
export async function sumOfFile(path: string): Promise<FileSum> {
  const source = await open(path, "r");
  try {
    return await readAll(source, Number.POSITIVE_INFINITY, async () => {});
  } finally {
    await source.close();
  }
}

/** With one buffer: a stream would allocate one for each chunk. */
async function readAll(
  source: Awaited<ReturnType<typeof open>>,
  maxBytes: number,
  onChunk: (chunk: Buffer) => Promise<void>,
): Promise<FileSum> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, maxBytes)));
  let bytes = 0;
  while (bytes < maxBytes) {
    const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, maxBytes - bytes), bytes);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    await onChunk(chunk);
    bytes += bytesRead;
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** A `StoreFault` if a disk is full; otherwise the error itself. */
export function faultOfFullDisk(to: string, error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return new StoreFault(`the disk of ${to} is full (${code}): free some space, then repeat the command`, {
    cause: error,
  });
}

function undefinedIfGone(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}

/** Makes the names in a folder survive a power cut. */
export function syncFolder(folder: string): void {
  let opened: number;
  try {
    opened = openSync(folder, "r");
  } catch (error) {
    // A folder that this user may pass but not read; it made nothing there.
    if (error instanceof Error && "code" in error && error.code === "EACCES") return;
    throw error;
  }
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
