import { chown, mkdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { copyFile, type Progress, syncFolder } from "@intermission/postgres/copy-files";
import { restoreCluster } from "@intermission/postgres/restore-cluster";
import { StoreFault } from "@intermission/postgres/store-faults";
import { requireMediaFolder } from "../creatives/open-media-storage.ts";
import { type BackupConfig, requireSpace } from "./back-up.ts";
import { damaged, readSeal, type Seal, sealedFiles } from "./sealed-folder.ts";

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
      const places = { postgres: cluster, media: media.kind === "folder" ? media.folder : undefined };
      await copyAll(source, { seal, places, dataDirectory }, onProgress);
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
  readonly postgres: string;
  readonly media: string | undefined;
}

async function copyAll(
  source: string,
  { seal, places, dataDirectory }: { readonly seal: Seal; readonly places: Places; readonly dataDirectory: string },
  onProgress: Progress,
): Promise<void> {
  const videoBytes = seal.videos.kind === "folder" ? seal.videos.bytes : 0;
  await requireSpace(dataDirectory, seal.bytes - videoBytes);
  const owner = await stat(dataDirectory);
  /** Root makes files for the user of the data folder. */
  const give = async (path: string) => (process.getuid?.() === 0 ? chown(path, owner.uid, owner.gid) : undefined);
  if (places.media !== undefined) {
    const made = await mkdir(places.media, { recursive: true, mode: 0o700 });
    await requireSpace(places.media, videoBytes);
    for (let path = places.media; made !== undefined && path.length >= made.length; path = dirname(path))
      await give(path);
  }
  const placeOf = (path: string) => placeIn(places, path) ?? fail(source);
  for (const path of seal.folders) {
    const { place, kind } = placeOf(path);
    await mkdir(place, { recursive: true, mode: 0o700 });
    if (kind === "media") await give(place);
  }
  let done = 0;
  for await (const { path, sha256 } of sealedFiles(source)) {
    onProgress("copying the backup", done, seal.bytes);
    const { place, kind } = placeOf(path);
    const sum = await copyFile(join(source, path), place, { mode: kind === "postgres" ? 0o600 : 0o644 });
    if (sum?.sha256 !== sha256) throw damaged(source, path, sum === undefined ? "missing" : "changed");
    if (kind === "media") await give(place);
    done += sum.bytes;
  }
  for (const path of seal.folders) syncFolder(placeOf(path).place);
}

/** Where a file or folder of the backup belongs. */
function placeIn({ postgres, media }: Places, path: string): { kind: keyof Places; place: string } | undefined {
  const [kind, ...rest] = path.split("/");
  if (kind === "postgres") return { kind, place: join(postgres, ...rest) };
  return kind === "media" && media !== undefined ? { kind, place: join(media, ...rest) } : undefined;
}

function fail(source: string): never {
  throw damaged(source, "SHA256SUMS", "changed");
}
