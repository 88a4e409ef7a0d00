import { chown, mkdir, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { copyFile, type Progress, sumOfFile, syncFolder } from "@intermission/postgres/copy-files";
import { restoreCluster } from "@intermission/postgres/restore-cluster";
import { StoreFault } from "@intermission/postgres/store-faults";
import { requireMediaFolder } from "../creatives/open-media-storage.ts";
import { type BackupConfig, requireSpace } from "./back-up.ts";
import { databaseArchive, unpackDatabase } from "./database-archive.ts";
import { damaged, readSeal, type Seal, sealedFiles } from "./sealed-folder.ts";

/** In a backup: `folderOf` of billing-log. */
const LOG_CHECKPOINT = /^media\/log-[0-9a-f]{8}\/checkpoint$/;

/**
 * Restores a backup to a data folder without data: every file is compared with its sum, and the database is opened once.
 * Until then servers refuse the folder. Rejects with a `StoreFault`.
 */
export async function restore(config: BackupConfig, folder: string, onProgress: Progress): Promise<Seal> {
  const source = resolve(folder);
  const { dataDirectory, media } = config;
  const seal = await readSeal(source);
  requireSameStorage(seal, media);
  await requireMediaFolder(media);
  await restoreCluster({
    dataDirectory,
    onProgress,
    expected: seal.schemas.map(({ schema }) => schema),
    otherFolders: media.kind === "folder" ? [media.folder] : [],
    async fill(cluster) {
      const places = { cluster, media: media.kind === "folder" ? media.folder : undefined };
      await fillAll(source, { seal, places, dataDirectory }, onProgress);
    },
  });
  return seal;
}

function requireSameStorage({ videos }: Seal, media: BackupConfig["media"]): void {
  if (videos.kind === media.kind) return;
  throw new StoreFault(
    videos.kind === "bucket"
      ? `the videos of this backup are in the bucket ${videos.bucket}: set the S3_ variables as they were`
      : "this backup contains the videos, but the S3_ variables name a bucket: unset them, as they were when the backup was made",
  );
}

interface Places {
  readonly cluster: string;
  readonly media: string | undefined;
}

async function fillAll(
  source: string,
  { seal, places, dataDirectory }: { readonly seal: Seal; readonly places: Places; readonly dataDirectory: string },
  onProgress: Progress,
): Promise<void> {
  const videoBytes = seal.videos.kind === "folder" ? seal.videos.bytes : 0;
  await requireSpace(dataDirectory, seal.databaseBytes);
  const owner = await stat(dataDirectory);
  /** Root makes files for the user of the data folder. */
  const give = async (path: string) => (process.getuid?.() === 0 ? chown(path, owner.uid, owner.gid) : undefined);
  if (places.media !== undefined) {
    const made = await mkdir(places.media, { recursive: true, mode: 0o700 });
    await requireSpace(places.media, videoBytes);
    for (let path = places.media; made !== undefined && path.length >= made.length; path = dirname(path))
      await give(path);
  }
  const mediaPlaceOf = (path: string) => placeInMedia(places, path) ?? fail(source);
  for (const path of seal.folders) {
    await mkdir(mediaPlaceOf(path), { recursive: true, mode: 0o700 });
    await give(mediaPlaceOf(path));
  }
  let done = 0;
  for await (const { path, sha256 } of sealedFiles(source)) {
    onProgress("copying the backup", done, seal.bytes);
    const isDatabase = path === databaseArchive;
    const from = join(source, path);
    const sum = isDatabase
      ? await sumOfFile(from).catch(() => undefined)
      : await copyFile(from, mediaPlaceOf(path), { mode: 0o644 });
    if (sum?.sha256 !== sha256) throw damaged(source, path, sum === undefined ? "missing" : "changed");
    if (isDatabase) await unpackDatabase(source, places.cluster);
    else await give(mediaPlaceOf(path));
    // A checkpoint of the log of billed events that cannot be read: later ones were perhaps served, so that a new log begins.
    if (LOG_CHECKPOINT.test(path)) await writeFile(mediaPlaceOf(path), "restored\n");
    done += sum.bytes;
  }
  for (const path of seal.folders) syncFolder(mediaPlaceOf(path));
}

/** Where a file or folder of the backup's videos belongs. */
function placeInMedia({ media }: Places, path: string): string | undefined {
  const [kind, ...rest] = path.split("/");
  return kind === "media" && media !== undefined ? join(media, ...rest) : undefined;
}

function fail(source: string): never {
  throw damaged(source, "SHA256SUMS", "changed");
}
