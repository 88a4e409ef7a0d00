import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { stopCopy } from "@intermission/postgres/check-copy";
import { type Progress, syncFolder } from "@intermission/postgres/copy-files";
import { lockFile } from "@intermission/postgres/file-lock";
import { StoreFault } from "@intermission/postgres/store-faults";
import { type BackupConfig, backUp } from "./back-up.ts";
import { checkSums, datedBackupsIn, lockName, readSeal, type Seal } from "./sealed-folder.ts";

export interface KeptBackup {
  readonly folder: string;
  readonly seal: Seal;
  /** The backups that were removed: older ones beyond `keep`, and what interrupted runs left. */
  readonly removed: readonly string[];
}

/**
 * Makes a backup named after `now` in a folder of backups, and then removes the oldest beyond `keep`, and what interrupted
 * runs left. A backup that fails removes no whole one. Rejects with a `StoreFault`, also while another run works there.
 */
export async function backUpAndKeep(
  config: BackupConfig,
  { folder, keep, now, onProgress }: { folder: string; keep: number; now: Date; onProgress: Progress },
): Promise<KeptBackup> {
  const parent = resolve(folder);
  const known = join(config.dataDirectory, KEPT_FOLDER_FILE);
  await requireSameDisk(parent, known);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const lock = lockFile(join(parent, lockName), "exclusive");
  if (lock === undefined) throw new StoreFault(`another command is making a backup in ${parent}: wait for it`);
  try {
    const before = await datedBackupsIn(parent);
    // Before the new one, which may need their room.
    const interrupted = before.incomplete.filter((name) => name.endsWith(".partial"));
    for (const name of interrupted) await removeUnfinished(join(parent, name));
    const made = join(parent, nameAt(now));
    const newest = before.whole.at(-1);
    const previous = newest === undefined ? undefined : join(parent, newest);
    const seal = await backUp(config, made, { onProgress, previous });
    await rememberFolder(parent, known);
    const others = (await datedBackupsIn(parent)).whole.filter((name) => name !== basename(made));
    const outdated = others.slice(0, Math.max(0, others.length - (keep - 1)));
    for (const name of outdated) await removeWhole(parent, name);
    return { folder: made, seal, removed: [...interrupted, ...outdated].map((name) => join(parent, name)) };
  } finally {
    lock.unlock();
  }
}

/** In `DATA_DIR`: the folders of dated backups, one a line. */
const KEPT_FOLDER_FILE = "backup-folder";

async function readFolders(known: string): Promise<string[]> {
  return (await readFile(known, "utf8").catch(() => "")).split("\n").filter(Boolean);
}

/** Whole or not at all: a file that a crash left empty would know no folder. */
async function rememberFolder(parent: string, known: string): Promise<void> {
  const folders = await readFolders(known);
  if (folders.includes(parent)) return;
  await writeFile(`${known}.new`, `${[...folders, parent].join("\n")}\n`, { flush: true });
  await rename(`${known}.new`, known);
}

/** A disk that is not mounted leaves its folder empty, or without it: a backup there would fill the disk of the store. */
async function requireSameDisk(parent: string, known: string): Promise<void> {
  if (!(await readFolders(known)).includes(parent)) return;
  const { whole, incomplete } = await datedBackupsIn(parent);
  if (whole.length > 0 || incomplete.length > 0) return;
  throw new StoreFault(
    `${parent} had backups and has none now: mount its disk. If it is meant to be empty, remove its line of ${known}`,
  );
}

function nameAt(now: Date): string {
  return `${now.toISOString().slice(0, 19).replaceAll(":", "-")}Z`;
}

/** Renamed first, so that a backup whose removal is interrupted never counts. */
async function removeWhole(parent: string, name: string): Promise<void> {
  const partial = join(parent, `${name}.partial`);
  await rename(join(parent, name), partial);
  syncFolder(parent);
  await rm(partial, { recursive: true, force: true });
}

/** Not one that `backup` without `--keep` is making. */
async function removeUnfinished(partial: string): Promise<void> {
  const lock = lockFile(join(partial, lockName), "exclusive");
  if (lock === undefined) return;
  await stopCopy(join(partial, "postgres"));
  for (const name of await readdir(partial))
    if (!name.startsWith(lockName)) await rm(join(partial, name), { recursive: true });
  lock.unlock();
  await rm(partial, { recursive: true, force: true });
}

interface CheckedBackup {
  readonly folder: string;
  readonly seal: Seal;
  readonly ageHours: number;
  readonly backups: number;
  /** What interrupted runs left; the next run removes it. */
  readonly incomplete: readonly string[];
}

/**
 * Compares every file of a backup, or of the newest one in a folder of backups, with its checksum. Rejects with a
 * `StoreFault` if there is none, if it is damaged, or if it is older than `maxAgeHours`.
 */
export async function checkBackup(
  folder: string,
  { maxAgeHours, now, onProgress }: { maxAgeHours: number; now: Date; onProgress: Progress },
): Promise<CheckedBackup> {
  const parent = resolve(folder);
  const { whole, incomplete } = await datedBackupsIn(parent);
  const newest = whole.at(-1);
  const checked = newest === undefined ? parent : join(parent, newest);
  const seal = await readSeal(checked);
  await checkSums(checked, seal, onProgress);
  const ageHours = (now.getTime() - Date.parse(seal.completeUntil)) / 3_600_000;
  if (ageHours > maxAgeHours)
    throw new StoreFault(
      `the newest backup, ${checked}, is whole, but ${ageHours.toFixed(1)} hours old, and at most ${maxAgeHours} are allowed: run pnpm ads backup, and look at its timer`,
    );
  return { folder: checked, seal, ageHours, backups: Math.max(1, whole.length), incomplete };
}
