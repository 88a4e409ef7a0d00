import { existsSync } from "node:fs";
import { chmod, link, mkdir, readdir, rename, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { backUpCluster } from "@intermission/postgres/back-up-cluster";
import { stopCopy } from "@intermission/postgres/check-copy";
import {
  bytesBelow,
  copyFile,
  entriesBelow,
  type Progress,
  sumOfFile,
  syncFolder,
} from "@intermission/postgres/copy-files";
import { type FileLock, lockFile } from "@intermission/postgres/file-lock";
import { StoreFault } from "@intermission/postgres/store-faults";
import { LAST_BACKUP_FILE } from "@intermission/server/machine-metrics";
import type { CommandConfig } from "../config.ts";
import { isScratch } from "../creatives/media-storage.ts";
import { requireMediaFolder } from "../creatives/open-media-storage.ts";
import { packDatabase } from "./database-archive.ts";
import { lockName, type Seal, sealFolder, sumsOfBackup } from "./sealed-folder.ts";

export type BackupConfig = Pick<CommandConfig, "dataDirectory" | "buffersMegabytes" | "media">;

interface BackUpOptions {
  readonly onProgress: Progress;
  /** An earlier backup on the same disk: videos that it has are links to its files. */
  readonly previous?: string | undefined;
}

/**
 * Copies the embedded database and the videos of a data folder to a new folder, while servers use them, and checks the
 * copy. Until it is whole, the folder has the suffix `.partial`. Rejects with a `StoreFault`.
 */
export async function backUp(
  config: BackupConfig,
  folder: string,
  { onProgress, previous }: BackUpOptions,
): Promise<Seal> {
  const target = resolve(folder);
  const { dataDirectory, buffersMegabytes, media } = config;
  await requireMediaFolder(media);
  await requireNewFolder(target, [join(dataDirectory, "postgres"), ...(media.kind === "folder" ? [media.folder] : [])]);
  const partial = `${target}.partial`;
  const lock = await claimFolder(partial);
  try {
    const earlier = { folder: previous ?? "", sums: previous === undefined ? new Map() : await sumsOfBackup(previous) };
    const videos = media.kind === "folder" ? { from: media.folder, to: join(partial, "media"), earlier } : undefined;
    const linked = new Map<string, string>();
    const { completeUntil, schemas } = await backUpCluster({
      dataDirectory,
      buffersMegabytes,
      target: partial,
      onProgress,
      copyOthers: async () => {
        if (videos !== undefined) await copyVideos(videos, { linked, onProgress });
      },
      requireSpace: async (bytes) => requireSpace(partial, 2 * bytes + (await bytesOfVideos(videos))),
    });
    onProgress("packing the database", 0, 0);
    const databaseBytes = await packDatabase(partial);
    const facts = {
      completeUntil: completeUntil.toISOString(),
      schemas: [...schemas],
      databaseBytes,
      videos: media.kind === "bucket" ? { kind: media.kind, bucket: media.bucket } : await countVideos(partial),
    };
    const seal = await sealFolder(partial, { facts, known: linked, onProgress });
    lock.unlock();
    for (const name of await readdir(partial)) if (name.startsWith(lockName)) await rm(join(partial, name));
    await chmod(partial, 0o700);
    await rename(partial, target);
    syncFolder(dirname(target));
    await writeFile(join(dataDirectory, LAST_BACKUP_FILE), `${facts.completeUntil}\n`);
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

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0);
}

interface Videos {
  readonly from: string;
  readonly to: string;
  readonly earlier: { readonly folder: string; readonly sums: ReadonlyMap<string, string> };
}

/** Copies the videos that the copy does not have, or links those of the earlier backup. A video's bytes never change. */
async function copyVideos(
  { from, to, earlier }: Videos,
  { linked, onProgress }: { readonly linked: Map<string, string>; readonly onProgress: Progress },
): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  const total = await bytesBelow(from, isScratch);
  let done = 0;
  for await (const { path, kind, bytes } of entriesBelow(from, isScratch)) {
    const copy = join(to, path);
    const sum = earlier.sums.get(`media/${path}`);
    if (kind === "folder") await mkdir(copy, { recursive: true, mode: 0o700 });
    else if (!existsSync(copy)) {
      onProgress("copying the videos", done, total);
      if (sum !== undefined && (await isLinked(join(earlier.folder, "media", path), { copy, bytes, sum })))
        linked.set(`media/${path}`, sum);
      else await copyFile(join(from, path), copy);
    }
    done += bytes;
  }
}

/** What the videos that are not links take, beside the copy of the database and its archive, which is smaller. */
export async function bytesOfVideos(videos: Videos | undefined): Promise<number> {
  if (videos === undefined) return 0;
  const { from, to, earlier } = videos;
  const areLinked = await canLink(earlier, dirname(to));
  return bytesBelow(from, (path) => isScratch(path) || (areLinked && earlier.sums.has(`media/${path}`)));
}

/** Whether files of the earlier backup can be linked here: it may be on another disk, or on a file system without links. */
async function canLink({ folder, sums }: Videos["earlier"], partial: string): Promise<boolean> {
  const [file] = sums.keys();
  if (file === undefined) return false;
  const probe = join(partial, `${lockName}.link`);
  return link(join(folder, file), probe).then(
    () => rm(probe).then(() => true),
    () => false,
  );
}

/**
 * Not every file system has links, and the earlier file may be gone or damaged: then the video is copied. It is read first,
 * since all backups would share the damage.
 */
async function isLinked(
  earlier: string,
  { copy, bytes, sum }: { copy: string; bytes: number; sum: string },
): Promise<boolean> {
  const found = await stat(earlier).catch(() => undefined);
  if (found?.size !== bytes || (await sumOfFile(earlier)).sha256 !== sum) return false;
  return link(earlier, copy).then(
    () => true,
    () => false,
  );
}

async function countVideos(partial: string): Promise<{ kind: "folder"; files: number; bytes: number }> {
  const counted = { kind: "folder" as const, files: 0, bytes: 0 };
  for await (const { kind, bytes } of entriesBelow(join(partial, "media"))) {
    counted.files += kind === "file" ? 1 : 0;
    counted.bytes += bytes;
  }
  return counted;
}
