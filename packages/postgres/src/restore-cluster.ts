import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type CheckedSchema, checkCopy, stopCopy } from "./check-copy.ts";
import { chooseAccount } from "./cluster-account.ts";
import { clusterFolderOf, requireNoData, unfinishedRestoreOf } from "./cluster-folder.ts";
import { type Progress, syncFolder } from "./copy-files.ts";
import { whileAlone } from "./join-cluster.ts";
import { postgresPrograms } from "./postgres-programs.ts";
import { StoreFault } from "./store-faults.ts";

interface RestoreOptions {
  readonly dataDirectory: string;
  /** Folders outside of the cluster that are restored, too, and must be empty or missing. */
  readonly otherFolders: readonly string[];
  /** Copies the cluster to this empty folder, and fills the other folders. */
  readonly fill: (folder: string) => Promise<void>;
  /** The schemas that the backup names. */
  readonly expected: readonly string[];
  readonly onProgress: Progress;
}

/**
 * Makes the cluster of a data folder from a backup, under another name until it was opened once: if this process ends
 * meanwhile, servers refuse the folder, and another restore begins again. Rejects with a `StoreFault` if there are data.
 */
export async function restoreCluster(options: RestoreOptions): Promise<readonly CheckedSchema[]> {
  const dataDirectory = resolve(options.dataDirectory);
  const { otherFolders, fill, expected, onProgress } = options;
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  return whileAlone(dataDirectory, async () => {
    const unfinished = unfinishedRestoreOf(dataDirectory);
    const isRepeated = existsSync(unfinished);
    requireNoData(dataDirectory, { isRepeated });
    if (!isRepeated) for (const folder of otherFolders) await requireEmpty(folder);
    await stopCopy(unfinished);
    const programs = postgresPrograms();
    const account = chooseAccount({ folder: clusterFolderOf(dataDirectory), dataDirectory, programs });
    await mkdir(unfinished, { recursive: true, mode: 0o700 });
    syncFolder(dataDirectory);
    // The folder itself stays: without it, a server would make an empty store beside what was restored.
    for (const name of await readdir(unfinished)) await rm(join(unfinished, name), { recursive: true });
    await fill(unfinished);
    const schemas = await checkCopy({ folder: unfinished, account, programs }, { expected, onProgress });
    await rename(unfinished, clusterFolderOf(dataDirectory));
    for (const parent of [dataDirectory, dirname(dataDirectory)]) syncFolder(parent);
    return schemas;
  });
}

async function requireEmpty(folder: string): Promise<void> {
  if (!existsSync(folder) || (await readdir(folder)).length === 0) return;
  throw new StoreFault(
    `${folder} has files: a backup is restored only where nothing is. Name an empty folder, or move these files away`,
  );
}
