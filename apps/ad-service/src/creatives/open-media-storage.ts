import type { BucketStorage, MediaBucket } from "./bucket-storage.ts";
import { type FolderStorage, folderStorage } from "./media-storage.ts";

/** Where the configuration says that videos are kept. The client of buckets is large: it is read only where there is one. */
export async function openMediaStorage(
  media: { kind: "folder"; folder: string } | MediaBucket,
): Promise<FolderStorage | BucketStorage> {
  if (media.kind === "folder") return folderStorage(media.folder);
  const { bucketStorage } = await import("./bucket-storage.ts");
  return bucketStorage(media);
}
