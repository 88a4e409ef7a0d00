import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

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

/** Reads the first bytes of a stream, `most` at most; the rest is not requested. */
export async function readAtMost(bytes: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length >= most) break;
  }
  return Buffer.concat(chunks).subarray(0, most);
}
