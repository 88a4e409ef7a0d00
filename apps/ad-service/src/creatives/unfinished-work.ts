import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { MediaStorage } from "./media-storage.ts";

/** A repeated upload comes within minutes. */
const KEPT_MS = 60 * 60_000;
const MAX_KEPT = 10;

interface Work {
  media: Pick<MediaStorage, "uploadsFolder">;
  /** Of the bytes that were uploaded. */
  sha256: string;
  pathOf: (name: string) => string;
}

/**
 * Sets aside what ffmpeg has made of an upload that the storage cannot take now, so that a repeated upload of the same bytes
 * does not wait for it again.
 */
export async function keepWork({ media, sha256, pathOf }: Work, names: readonly string[]): Promise<void> {
  const folder = folderOf(media);
  await mkdir(join(folder, sha256), { recursive: true });
  for (const name of names) await rename(pathOf(name), join(folder, sha256, name)).catch(() => {});
  const kept = await Promise.all((await readdir(folder)).map((name) => ageOf(join(folder, name))));
  kept.sort((a, b) => b.at - a.at);
  const old = kept.filter(({ at }, index) => index >= MAX_KEPT || Date.now() - at > KEPT_MS);
  for (const { path } of old) await rm(path, { recursive: true, force: true });
}

/** Continues with what was set aside for these bytes. Of two uploads at once, one gets it. */
export async function resumeWork({ media, sha256, pathOf }: Work, names: readonly string[]): Promise<void> {
  const folder = join(folderOf(media), sha256);
  for (const name of names) await rename(join(folder, name), pathOf(name)).catch(() => {});
  await rm(folder, { recursive: true, force: true });
}

function folderOf({ uploadsFolder }: Work["media"]): string {
  return join(uploadsFolder, "made");
}

async function ageOf(path: string): Promise<{ path: string; at: number }> {
  return { path, at: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 };
}
