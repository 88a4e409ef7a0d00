import { access, constants, stat } from "node:fs/promises";
import { StartFault } from "@intermission/server/start-fault";
import { type BucketStorage, bucketStorage, type MediaBucket } from "./bucket-storage.ts";
import { type FolderStorage, folderStorage, missingAsUndefined } from "./media-storage.ts";

type MediaPlace = { kind: "folder"; folder: string; isMadeIfMissing: boolean } | MediaBucket;

/** Opens the configured storage of videos. */
export async function openMediaStorage(media: MediaPlace): Promise<FolderStorage | BucketStorage> {
  return media.kind === "folder" ? folderStorage(media.folder) : bucketStorage(media);
}

/** Throws a `StartFault` if the configured folder does not exist. A bucket is accessed on first use. */
export async function requireMediaFolder(media: MediaPlace): Promise<void> {
  if (media.kind !== "folder" || media.isMadeIfMissing) return;
  const { folder } = media;
  const found = await stat(folder).catch(missingAsUndefined);
  if (!found?.isDirectory()) {
    throw new StartFault(`the folder ${folder} of MEDIA_DIR does not exist: mount or make it, or correct MEDIA_DIR`);
  }
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
}
