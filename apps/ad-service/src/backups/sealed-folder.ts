import { createReadStream, existsSync } from "node:fs";
import { open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { entriesBelow, type Progress, sumOfFile, syncFolder } from "@intermission/postgres/copy-files";
import { StoreFault } from "@intermission/postgres/store-faults";
import { z } from "zod";

/**
 * A backup is a folder: `database.tar.gz` (a cluster), `media` (videos), `SHA256SUMS` (which `sha256sum --check` reads), and
 * `backup.json`, which is written last: without it the folder is not a backup.
 */
const sealName = "backup.json";
const sumsName = "SHA256SUMS";

const count = z.int().min(0);
const seal = z.object({
  format: z.literal("intermission-backup/2"),
  /** Everything that was acknowledged before is in the backup. */
  completeUntil: z.iso.datetime(),
  schemas: z.array(z.object({ schema: z.string(), tables: count, rows: count })).min(1),
  /** What the database takes unpacked. */
  databaseBytes: count,
  videos: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("folder"), files: count, bytes: count }),
    z.object({ kind: z.literal("bucket"), bucket: z.string() }),
  ]),
  /** Also the empty ones, which some tools do not copy. */
  folders: z.array(z.string().check(z.refine(isInside))),
  files: count,
  bytes: count,
  sumsSha256: z.string(),
});
export type Seal = z.infer<typeof seal>;
type SealFacts = Pick<Seal, "completeUntil" | "schemas" | "databaseBytes" | "videos">;

function isInside(path: string): boolean {
  return !path.startsWith("/") && !path.split("/").includes("..");
}

interface SealOptions {
  readonly facts: SealFacts;
  /** The sums of files that are links to those of another backup, which have just been read. */
  readonly known: ReadonlyMap<string, string>;
  readonly onProgress: Progress;
}

/** Writes the sums of all files and then the seal. Afterwards the folder is a backup. */
export async function sealFolder(folder: string, { facts, known, onProgress }: SealOptions): Promise<Seal> {
  const totals = { files: 0, bytes: 0 };
  let all = 0;
  for await (const { bytes } of entriesBelow(folder, isOwnFile)) all += bytes;
  const folders: string[] = [];
  const sums = await open(join(folder, sumsName), "w", 0o600);
  try {
    for await (const { path, kind, bytes } of entriesBelow(folder, isOwnFile)) {
      if (kind === "folder") {
        folders.push(path);
        syncFolder(join(folder, path));
        continue;
      }
      if (/[\n\\]/.test(path))
        throw new StoreFault(`${join(folder, path)} has a name that ${sumsName} cannot hold: rename it`);
      onProgress("computing checksums", totals.bytes, all);
      const sha256 = known.get(path) ?? (await sumOfFile(join(folder, path))).sha256;
      await sums.write(`${sha256}  ${path}\n`);
      totals.files += 1;
      totals.bytes += bytes;
    }
    await sums.sync();
  } finally {
    await sums.close();
  }
  const { sha256: sumsSha256 } = await sumOfFile(join(folder, sumsName));
  const made: Seal = { format: "intermission-backup/2", ...facts, folders, ...totals, sumsSha256 };
  const file = await open(join(folder, sealName), "w", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(made, undefined, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  syncFolder(folder);
  return made;
}

/** The sums of a backup's files; none of a folder that is not a whole backup. */
export async function sumsOfBackup(folder: string): Promise<ReadonlyMap<string, string>> {
  const sums = new Map<string, string>();
  try {
    await readSeal(folder);
    for await (const { path, sha256 } of sealedFiles(folder)) sums.set(path, sha256);
    return sums;
  } catch (error) {
    if (error instanceof StoreFault) return new Map();
    throw error;
  }
}

/** Compares every file of a backup with its sum. Throws a `StoreFault` that names the first damaged one. */
export async function checkSums(folder: string, seal: Seal, onProgress: Progress): Promise<void> {
  let done = 0;
  for await (const { path, sha256 } of sealedFiles(folder)) {
    onProgress("comparing checksums", done, seal.bytes);
    const sum = await sumOfFile(join(folder, path)).catch(() => undefined);
    if (sum?.sha256 !== sha256) throw damaged(folder, path, sum === undefined ? "missing" : "changed");
    done += sum.bytes;
  }
}

function isSealed(folder: string): boolean {
  return existsSync(join(folder, sealName));
}

export const lockName = "backup.lock";

function isOwnFile(path: string): boolean {
  return [sealName, sumsName].includes(path) || path.startsWith(lockName);
}

const datedName = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(\.partial)?$/;

/** The backups that `backup --keep` made in a folder, by name, the oldest first. */
export async function datedBackupsIn(folder: string): Promise<{ whole: string[]; incomplete: string[] }> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => datedName.test(name)).sort();
  const isWhole = (name: string) => !name.endsWith(".partial") && isSealed(join(folder, name));
  return { whole: names.filter(isWhole), incomplete: names.filter((name) => !isWhole(name)) };
}

/** Reads the seal of a backup. Throws a `StoreFault` if the folder is not a whole backup. */
export async function readSeal(folder: string): Promise<Seal> {
  const text = await readFile(join(folder, sealName), "utf8").catch(async (error: unknown) => {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    const newest = (await datedBackupsIn(folder)).whole.at(-1);
    throw new StoreFault(
      newest === undefined
        ? `${folder} is not a whole backup, since it has no ${sealName}: name the folder that pnpm ads backup made. If that command was interrupted, make another backup`
        : `${folder} holds several backups: name one of them, the newest is ${join(folder, newest)}`,
    );
  });
  const read = seal.safeParse(parsed(text));
  if (!read.success) {
    throw new StoreFault(
      `${join(folder, sealName)} cannot be read: it is damaged, or of another version of this program; use another backup`,
    );
  }
  const sums = await sumOfFile(join(folder, sumsName)).catch(() => undefined);
  if (sums?.sha256 !== read.data.sumsSha256)
    throw damaged(folder, sumsName, sums === undefined ? "missing" : "changed");
  return read.data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function damaged(folder: string, path: string, fault: "missing" | "changed"): StoreFault {
  return new StoreFault(
    `the backup ${folder} is damaged: ${path} is ${fault}. Copy it again from where it was made, or use another backup`,
  );
}

/** The files of a backup with their sums, which the caller compares. */
export async function* sealedFiles(folder: string): AsyncGenerator<{ readonly path: string; readonly sha256: string }> {
  for await (const line of createInterface({ input: createReadStream(join(folder, sumsName)) })) {
    const [, sha256, path] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
    if (sha256 === undefined || path === undefined || !isInside(path)) throw damaged(folder, sumsName, "changed");
    yield { path, sha256 };
  }
}
