import { open } from "node:fs/promises";
import { type FileFault, fileFault } from "@intermission/operator-api/file-faults";
import type { Container } from "./ffmpeg.ts";
import { stripMp4 } from "./strip-mp4.ts";
import { stripWebm } from "./strip-webm.ts";

/**
 * Removes from a playable video, in place, everything that is neither picture nor sound: where and when it was taken, the
 * device, titles, comments, tracks of positions. Each byte of the picture and the sound stays where it was. Returns a fault
 * if the file cannot be read that far, so that nothing is published whose contents are unknown.
 */
export async function stripVideo(path: string, container: Container): Promise<FileFault | undefined> {
  const file = await open(path, "r+");
  try {
    const { size } = await file.stat();
    const isStripped = container === "mp4" ? await stripMp4(file, size) : await stripWebm(file, size);
    return isStripped ? undefined : fileFault("FILE_INDEX", { fault: "could not be read" });
  } finally {
    await file.close();
  }
}
