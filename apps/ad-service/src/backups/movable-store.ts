import { createWriteStream, existsSync } from "node:fs";
import { chown, copyFile, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { MovableStore, MovedFiles } from "@intermission/server/move-store";
import { secretBox } from "@intermission/server/secret-box";
import type { CommandConfig } from "../config.ts";
import type { BucketStorage } from "../creatives/bucket-storage.ts";
import type { FolderStorage } from "../creatives/media-storage.ts";
import { openMediaStorage, requireMediaFolder } from "../creatives/open-media-storage.ts";
import { migrations } from "../migrations.ts";

const sealedColumns = [
  { table: "bot_tokens", column: "ciphertext", owner: "bot_id", primaryKey: ["bot_id", "token_id"] },
  { table: "task_bots", column: "token", owner: "task_bot_id", primaryKey: ["task_bot_id"] },
  { table: "people", column: "totp_secret", owner: "person_id", primaryKey: ["person_id"] },
  { table: "billing_logs", column: "private_key", owner: "origin", primaryKey: ["log_id"] },
  { table: "buyers", column: "sealed_key", owner: "buyer_id", primaryKey: ["buyer_id"] },
  { table: "ord_account", column: "sealed_key", owner: "owner", primaryKey: ["is_only"] },
];

/** Every file that a creative or a bot names. */
const namesQuery = `select distinct name from (
    select unnest(array[file_name, poster_file_name]) as name from ad_service.creatives
    union all
    select unnest(array[picture_file_name, unit_icon_file_name]) from ad_service.bots
    union all
    select file ->> 'fileName' from ad_service.creatives cross join lateral jsonb_array_elements(renditions || captions) as file
  ) as named where name is not null order by name`;

/** The store that the settings name, for the commands that move it. Throws a `StartFault` for a missing folder of videos. */
export async function movableStore(config: CommandConfig): Promise<MovableStore> {
  const { encryptionKey, previousEncryptionKey, media } = config;
  await requireMediaFolder(media);
  return {
    ...config,
    schema: "ad_service",
    migrations,
    sealedColumns,
    hasPreviousKey: previousEncryptionKey !== undefined,
    box: encryptionKey && secretBox(encryptionKey, previousEncryptionKey),
    files: movedFiles(await openMediaStorage(media), config.dataDirectory),
  };
}

function movedFiles(storage: FolderStorage | BucketStorage, dataDirectory: string): MovedFiles {
  return {
    namesQuery,
    has: (name) => storage.has(name),
    async copyOut(name, path) {
      if (!(await storage.has(name))) return false;
      if (storage.kind === "folder") await copyFile(join(storage.folder, name), path);
      else {
        const found = await (await storage.open(name))?.read(undefined);
        if (!found) return false;
        await pipeline(found.body, createWriteStream(path, { mode: 0o600 }));
      }
      return true;
    },
    async copyIn(path, name) {
      if (storage.kind === "folder") await makeFolder(storage.folder, dataDirectory);
      await storage.withScratch(async (pathOf) => {
        await copyFile(path, pathOf(name));
        await storage.keep(pathOf(name), name);
      });
      if (storage.kind === "folder") await giveToOwner(join(storage.folder, name), dataDirectory);
    },
  };
}

async function makeFolder(folder: string, dataDirectory: string): Promise<void> {
  if (existsSync(folder)) return;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await giveToOwner(folder, dataDirectory);
}

/** Root makes files for the user of the data folder. */
async function giveToOwner(path: string, dataDirectory: string): Promise<void> {
  const owner = await stat(dataDirectory).catch(() => undefined);
  if (process.getuid?.() === 0 && owner !== undefined) await chown(path, owner.uid, owner.gid);
}
