import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import type { MediaStorage } from "./media-storage.ts";

/** Stores a small file under the hash of its bytes, and returns its name below `/media/`. */
export async function keepBytes(media: MediaStorage, bytes: Uint8Array, extension: string): Promise<string> {
  const fileName = `${createHash("sha256").update(bytes).digest("hex")}.${extension}`;
  await media.withScratch(async (pathOf) => {
    await writeFile(pathOf(fileName), bytes, { mode: 0o644 });
    await media.keep(pathOf(fileName), fileName);
  });
  return fileName;
}
