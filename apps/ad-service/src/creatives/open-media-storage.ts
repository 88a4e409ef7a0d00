import { access, constants, stat } from "node:fs/promises";
import { StartFault } from "@intermission/server/start-fault";
import type { BucketStorage, MediaBucket } from "./bucket-storage.ts";
import { type FolderStorage, folderStorage } from "./media-storage.ts";

type MediaPlace = { kind: "folder"; folder: string; isMadeIfMissing: boolean } | MediaBucket;

/** Opens the configured storage of videos. The S3 client is large: it is loaded only if a bucket is configured. */
export async function openMediaStorage(media: MediaPlace): Promise<FolderStorage | BucketStorage> {
  if (media.kind === "folder") return folderStorage(media.folder);
  const { bucketStorage } = await import("./bucket-storage.ts");
  return bucketStorage(media);
}

/** Throws a `StartFault` if the configured folder does not exist. A bucket is accessed on first use. */
export async function requireMediaFolder(media: MediaPlace): Promise<void> {
  if (media.kind !== "folder" || media.isMadeIfMissing) return;
  const { folder } = media;
  const found = await stat(folder).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!found?.isDirectory()) {
    throw new StartFault(`the folder ${folder} of MEDIA_DIR does not exist: mount or make it, or correct MEDIA_DIR`);
  }
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
}
