import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { storageFull, storageUnwritable } from "@intermission/server/refuse";
import type { BytePart } from "./byte-range.ts";

/** A stored file, of which nothing has been read yet. */
export interface StoredFile {
  /** Undefined if the storage does not say it. */
  byteLength: number | undefined;
  /**
   * The bytes of the part, or of the whole file. `isWhole`: the storage returned all of it, whatever was requested. Undefined
   * if the file is gone.
   */
  read(part: BytePart | undefined): Promise<{ body: Readable; isWhole: boolean } | undefined>;
}

/** Storage for the files of creatives, under names made of the hash of their bytes, and for those of the log of billed events. */
export interface MediaStorage {
  /** Gives `work` paths on this machine for temporary files. Files that are left there are removed when `work` ends. */
  withScratch<Result>(work: (pathOf: (name: string) => string) => Promise<Result>): Promise<Result>;
  /** For the bytes of unfinished uploads: on this machine, or shared with the other nodes if the videos are. */
  readonly uploadsFolder: string;
  /** For people, such as "the folder /srv/media". */
  readonly place: string;
  /** Whether there is a file of this name. Rejects if the storage does not answer, or may not say. */
  has(name: string): Promise<boolean>;
  /** Finds a file to be read; undefined if there is none. */
  open(name: string): Promise<StoredFile | undefined>;
  /** Stores a complete file; storing it again changes nothing. The file may no longer be at `path` afterwards. */
  keep(path: string, name: string): Promise<void>;
}

/** Equal files on different nodes have equal ETag and Last-Modified headers, since both derive from size and time. */
const FIXED_TIME = new Date("2000-01-01T00:00:00Z");

export interface FolderStorage extends MediaStorage {
  kind: "folder";
  folder: string;
}

const scratchPrefix = ".upload-";

/** Whether a path below the folder of videos belongs to an upload that has not ended. */
export function isScratch(path: string): boolean {
  return path.startsWith(scratchPrefix);
}

/** A folder; nodes may share it. */
export function folderStorage(folder: string): FolderStorage {
  return {
    kind: "folder",
    folder,
    uploadsFolder: join(folder, `${scratchPrefix}parts`),
    place: `the folder ${folder}`,
    async has(name) {
      return isFile(join(folder, name));
    },
    async open(name) {
      const path = join(folder, name);
      const found = await stat(path).catch(missingAsUndefined);
      if (!found?.isFile()) return undefined;
      return {
        byteLength: found.size,
        async read(part) {
          const file = await open(path, "r").catch(missingAsUndefined);
          if (!file) return undefined;
          return { body: file.createReadStream({ start: part?.from, end: part?.to }), isWhole: part === undefined };
        },
      };
    },
    async withScratch(work) {
      const scratch = join(folder, `${scratchPrefix}${randomUUID()}`);
      try {
        await mkdir(scratch, { recursive: true });
        return await work((name) => join(scratch, name));
      } catch (error) {
        throw faultOfFolder(folder, error) ?? error;
      } finally {
        // A folder that became read-only keeps it; the error above says more.
        await rm(scratch, { recursive: true, force: true }).catch(() => {});
      }
    },
    /** A reader never sees a partial file: the name appears with all of its bytes, also after a power cut. */
    async keep(path, name) {
      const kept = join(folder, name);
      await utimes(path, FIXED_TIME, FIXED_TIME);
      await flushed(path);
      if (name.includes("/")) await mkdir(dirname(kept), { recursive: true });
      await rename(path, kept);
      await flushed(dirname(kept));
    },
  };
}

/** What an operator can repair at the folder of videos; undefined for another error. */
export function faultOfFolder(folder: string, error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall }: NodeJS.ErrnoException = error;
  // Node reports this when a folder cannot be made on a read-only file system.
  const cause = code === "ENOENT" && syscall === "mkdir" ? "EROFS" : code;
  switch (cause) {
    case "ENOSPC":
    case "EDQUOT":
      return storageFull(
        `the disk of ${folder}, where videos are stored, is full: free some space there, then try again`,
      );
    case "EROFS":
    case "EACCES":
    case "EPERM":
      return storageUnwritable(
        `${folder}, where videos are stored, cannot be written (${cause}): its file system is read-only, or it belongs to another user; repair that, then try again`,
      );
    default:
      return undefined;
  }
}

async function flushed(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** SHA-256 of a file's bytes, in hex. */
export async function hashOfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Stores a small file under the hash of its bytes, and returns its name below `/media/`. */
export async function keepBytes(media: MediaStorage, bytes: Uint8Array, extension: string): Promise<string> {
  const fileName = `${createHash("sha256").update(bytes).digest("hex")}.${extension}`;
  await media.withScratch(async (pathOf) => {
    await writeFile(pathOf(fileName), bytes, { mode: 0o644 });
    await media.keep(pathOf(fileName), fileName);
  });
  return fileName;
}

/** Reads the first bytes of a stream, `max` at most; the rest is not requested. */
export async function readAtMost(bytes: AsyncIterable<Uint8Array>, max: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length >= max) break;
  }
  return Buffer.concat(chunks).subarray(0, max);
}

export async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(missingAsUndefined))?.isFile() === true;
}

export function missingAsUndefined(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}

/** The address of a stored file. */
export function mediaAddress(publicUrl: string, fileName: string): string {
  return `${publicUrl.replace(/\/$/, "")}/media/${fileName}`;
}
