import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm, utimes } from "node:fs/promises";
import { join } from "node:path";

/** Where the files of creatives are kept, under names made of the hash of their bytes. */
export interface MediaStorage {
  /** A path on this machine for a file in the making. Whatever is left there is removed when `work` ends. */
  withScratch<Result>(work: (pathOf: (name: string) => string) => Promise<Result>): Promise<Result>;
  /** Keeps a whole file; keeping it again changes nothing. The path may be gone afterwards. */
  keep(path: string, name: string): Promise<void>;
}

/** Of equal files on different nodes ETag and Last-Modified are equal too, since both are made of size and time. */
const FIXED_TIME = new Date("2000-01-01T00:00:00Z");

export interface FolderStorage extends MediaStorage {
  kind: "folder";
  folder: string;
}

/** A folder, which nodes may share. */
export function folderStorage(folder: string): FolderStorage {
  return {
    kind: "folder",
    folder,
    async withScratch(work) {
      await mkdir(folder, { recursive: true });
      const scratch = join(folder, `.upload-${randomUUID()}`);
      await mkdir(scratch);
      try {
        return await work((name) => join(scratch, name));
      } finally {
        await rm(scratch, { recursive: true, force: true });
      }
    },
    /** A reader never sees half a file: the name appears with all of its bytes, also after a power cut. */
    async keep(path, name) {
      await utimes(path, FIXED_TIME, FIXED_TIME);
      await flushed(path);
      await rename(path, join(folder, name));
      await flushed(folder);
    },
  };
}

async function flushed(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
