import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { backUpCluster } from "@intermission/postgres/back-up-cluster";
import { stopCopy } from "@intermission/postgres/check-copy";
import { bytesBelow, copyFile, entriesBelow, type Progress, syncFolder } from "@intermission/postgres/copy-files";
import { type FileLock, lockFile } from "@intermission/postgres/file-lock";
import { StoreFault } from "@intermission/postgres/store-faults";
import type { CommandConfig } from "../config.ts";
import { isScratch } from "../creatives/media-storage.ts";
import { requireMediaFolder } from "../creatives/open-media-storage.ts";
import { lockName, type Seal, sealFolder } from "./sealed-folder.ts";

export type BackupConfig = Pick<CommandConfig, "dataDirectory" | "buffersMegabytes" | "media">;

/**
 * Copies the embedded database and the videos of a data folder to a new folder, while servers use them, and checks the
 * copy. Until it is whole, the folder has the suffix `.partial`. Rejects with a `StoreFault`.
 */
export async function backUp(config: BackupConfig, folder: string, onProgress: Progress): Promise<Seal> {
  const target = resolve(folder);
  const { dataDirectory, buffersMegabytes, media } = config;
  await requireMediaFolder(media);
  await requireNewFolder(target, [join(dataDirectory, "postgres"), ...(media.kind === "folder" ? [media.folder] : [])]);
  const partial = `${target}.partial`;
  const lock = await claimFolder(partial);
  try {
    const videos = media.kind === "folder" ? { from: media.folder, to: join(partial, "media") } : undefined;
    const { completeUntil, schemas } = await backUpCluster({
      dataDirectory,
      buffersMegabytes,
      target: partial,
      onProgress,
      copyOthers: async () => videos && copyVideos(videos, onProgress),
      requireSpace: async (bytes) =>
        requireSpace(partial, bytes + (videos === undefined ? 0 : await bytesBelow(videos.from, isScratch))),
    });
    const facts = {
      completeUntil: completeUntil.toISOString(),
      schemas: [...schemas],
      videos: media.kind === "bucket" ? { kind: media.kind, bucket: media.bucket } : await countVideos(partial),
    };
    const seal = await sealFolder(partial, facts, onProgress);
    lock.unlock();
    for (const name of await readdir(partial)) if (name.startsWith(lockName)) await rm(join(partial, name));
    await chmod(partial, 0o700);
    await rename(partial, target);
    syncFolder(dirname(target));
    return seal;
  } catch (error) {
    lock.unlock();
    await stopCopy(join(partial, "postgres"));
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

async function requireNewFolder(target: string, sources: readonly string[]): Promise<void> {
  const isUsed = existsSync(target) && (!(await stat(target)).isDirectory() || (await readdir(target)).length > 0);
  if (isUsed) throw new StoreFault(`${target} exists and is not empty: name a new folder for the backup`);
  const around = sources.find((source) => !relative(source, target).startsWith(".."));
  if (around !== undefined)
    throw new StoreFault(
      `${target} is inside ${around}, which is copied: name a folder elsewhere, best on another disk`,
    );
}

/** Replaces what an interrupted backup left, but not one that another process is making. */
async function claimFolder(partial: string): Promise<FileLock> {
  let lock: FileLock | undefined;
  try {
    await mkdir(partial, { recursive: true, mode: 0o700 });
    lock = lockFile(join(partial, lockName), "exclusive");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? ` (${error.code})` : "";
    throw new StoreFault(`the backup cannot be written to ${partial}${code}: name a folder where this user may write`, {
      cause: error,
    });
  }
  if (lock === undefined)
    throw new StoreFault(`another command is making the backup ${partial}: wait for it, or name another folder`);
  await stopCopy(join(partial, "postgres"));
  for (const name of await readdir(partial)) {
    if (!name.startsWith(lockName)) await rm(join(partial, name), { recursive: true });
  }
  return lock;
}

export async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= bytes) return;
  throw new StoreFault(
    `${folder} needs ${megabytes(bytes)} MB, but its disk has ${megabytes(bavail * bsize)} MB left: free some space, or name a folder on another disk`,
  );
}

export function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0);
}

/** Copies the videos that the copy does not have. A video's bytes never change. */
async function copyVideos({ from, to }: { from: string; to: string }, onProgress: Progress): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  const total = await bytesBelow(from, isScratch);
  let done = 0;
  for await (const { path, kind, bytes } of entriesBelow(from, isScratch)) {
    const copy = join(to, path);
    if (kind === "folder") await mkdir(copy, { recursive: true, mode: 0o700 });
    else if (!existsSync(copy)) {
      onProgress("copying the videos", done, total);
      await copyFile(join(from, path), copy);
    }
    done += bytes;
  }
}

async function countVideos(partial: string): Promise<{ kind: "folder"; files: number; bytes: number }> {
  const counted = { kind: "folder" as const, files: 0, bytes: 0 };
  for await (const { kind, bytes } of entriesBelow(join(partial, "media"))) {
    counted.files += kind === "file" ? 1 : 0;
    counted.bytes += bytes;
  }
  return counted;
}
