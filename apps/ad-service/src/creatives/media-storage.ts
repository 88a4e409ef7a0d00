import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm, utimes } from "node:fs/promises";
import { join } from "node:path";

/** Storage for the files of creatives, under names made of the hash of their bytes. */
export interface MediaStorage {
  /** Gives `work` paths on this machine for temporary files. Files that are left there are removed when `work` ends. */
  withScratch<Result>(work: (pathOf: (name: string) => string) => Promise<Result>): Promise<Result>;
  /** Stores a complete file; storing it again changes nothing. The file may no longer be at `path` afterwards. */
  keep(path: string, name: string): Promise<void>;
}

/** Equal files on different nodes have equal ETag and Last-Modified headers, since both derive from size and time. */
const FIXED_TIME = new Date("2000-01-01T00:00:00Z");

export interface FolderStorage extends MediaStorage {
  kind: "folder";
  folder: string;
}

/** A folder; nodes may share it. */
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
    /** A reader never sees a partial file: the name appears with all of its bytes, also after a power cut. */
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
