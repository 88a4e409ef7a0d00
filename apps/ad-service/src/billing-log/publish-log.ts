import { writeFile } from "node:fs/promises";
import { type Database, statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { SecretBox } from "@intermission/server/secret-box";
import type { FastifyBaseLogger } from "fastify";
import type { MediaStorage } from "../creatives/media-storage.ts";
import { appendEntries } from "./append-entries.ts";
import { type BillingLog, findLog, logColumns, readCurrentLog, rootOf, tileBytes } from "./read-log.ts";
import {
  checkpointText,
  type NoteKey,
  newSecretKey,
  noteKeyOf,
  signNote,
  sizeOfCheckpoint,
  verifierKey,
} from "./signed-note.ts";
import { TILE_WIDTH, tilePath, tilesSince } from "./tiles.ts";

export interface PublishDeps {
  database: Database;
  secretBox: SecretBox;
  /** Full tiles and bundles are files beside the videos. */
  media: Pick<MediaStorage, "withScratch" | "keep" | "open">;
  /** Of this deployment: the first log is named by it. */
  publicUrl: string;
  log: Pick<FastifyBaseLogger, "error" | "warn" | "info">;
}

const insertLog = statement<never>(
  "billing-log.begin",
  `insert into billing_logs (log_id, origin, verifier_key, private_key) values ($1, $2, $3, $4) on conflict do nothing`,
);

/** Begins a log with a new key, unless another node has done it. */
async function beginLog({ database, secretBox, publicUrl }: PublishDeps, logId: number): Promise<BillingLog> {
  const address = publicUrl.replace(/^https?:\/\//, "").replace(/\/+$/, "");
  const origin = logId === 1 ? `${address}/log` : `${address}/log-${logId}`;
  const secret = newSecretKey();
  const values = [logId, origin, verifierKey(noteKeyOf(origin, secret)), secretBox.seal(secret, origin)];
  await database.run(insertLog, values);
  const begun = await readCurrentLog(database);
  if (begun === undefined) throw new Error("the log of billed events could not be begun");
  return begun;
}

const findKey = statement<{ sealed: Buffer }>(
  "billing-log.key",
  "select private_key as sealed from billing_logs where log_id = $1",
);

async function readKey({ database, secretBox }: PublishDeps, { logId, origin }: BillingLog): Promise<NoteKey> {
  const [row] = await database.run(findKey, [logId]);
  if (row === undefined) throw new Error("the log of billed events has no key");
  return noteKeyOf(origin, secretBox.open(row.sealed, origin));
}

/** The folder of a log's files: each log has its own, since files of its tiles never change. */
export function folderOf({ verifierKey: key }: Pick<BillingLog, "verifierKey">): string {
  return `log-${key.split("+")[1]}`;
}

/** Files that are written at once. */
const MAX_FILES = 64;

/** The full tiles and bundles that the newest checkpoint does not include yet. Partial ones are served from the database. */
async function keepFullTiles({ database, media }: PublishDeps, log: BillingLog, size: number): Promise<void> {
  const full = tilesSince(log.publishedSize, size).filter(({ width }) => width === TILE_WIDTH);
  for (let first = 0; first < full.length; first += MAX_FILES) {
    await media.withScratch(async (pathOf) => {
      for (const [place, name] of full.slice(first, first + MAX_FILES).entries()) {
        const path = pathOf(String(place));
        await writeFile(path, await tileBytes(database, log.logId, name), { mode: 0o644 });
        await media.keep(path, `${folderOf(log)}/${tilePath(name)}`);
      }
    });
  }
}

const storeCheckpoint = statement<BillingLog>(
  "billing-log.store-checkpoint",
  `update billing_logs set published_size = $2, checkpoint = $3, published_at = clock_timestamp()
   where log_id = $1 and published_size < $2 returning ${logColumns}`,
);

/**
 * Publishes the entries that were appended: first the files of the tiles, then the signed checkpoint, so that no checkpoint
 * ever shows a tree whose tiles are not there. Repeating it, also on two nodes at once, writes the same bytes.
 */
async function publishLog(deps: PublishDeps): Promise<BillingLog> {
  const { database } = deps;
  const log = (await readCurrentLog(database)) ?? (await beginLog(deps, 1));
  if (log.size === log.publishedSize && log.checkpoint !== null) return log;
  const key = await readKey(deps, log);
  if (await isBehindItsFiles(deps, log)) {
    const message = "the store is older than the last checkpoint of the log of billed events: a new log begins";
    deps.log.warn({ origin: log.origin }, message);
    return beginLog(deps, log.logId + 1);
  }
  const { origin, logId, size } = log;
  await keepFullTiles(deps, log, size);
  if (size === 0) return log;
  const checkpoint = signNote(checkpointText({ origin, size, root: await rootOf(database, logId, size) }), key);
  // Before it is served: whatever was served, the files know of it, also after a crash between the two.
  await keepCheckpoint(deps, log, checkpoint);
  const [published] = await database.run(storeCheckpoint, [logId, size, checkpoint]);
  if (published !== undefined) return published;
  // Another node has published more meanwhile, and this one's file may have come after that node's.
  const newer = (await findLog(database, logId)) ?? log;
  if (newer.checkpoint !== null) await keepCheckpoint(deps, newer, newer.checkpoint);
  return newer;
}

const checkpointFile = (log: BillingLog) => `${folderOf(log)}/checkpoint`;

async function keepCheckpoint({ media }: PublishDeps, log: BillingLog, checkpoint: string): Promise<void> {
  await media.withScratch(async (pathOf) => {
    await writeFile(pathOf("checkpoint"), checkpoint, { mode: 0o644 });
    await media.keep(pathOf("checkpoint"), checkpointFile(log));
  });
}

/**
 * Whether the files have a checkpoint of entries that this store lacks, or one that cannot be read, as a restore leaves it: the
 * store is that of an older backup. To go on would sign another tree of the same size, which anybody who keeps the checkpoint
 * would call a fraud.
 */
async function isBehindItsFiles({ database, media }: PublishDeps, log: BillingLog): Promise<boolean> {
  const file = await (await media.open(checkpointFile(log)))?.read(undefined);
  if (file === undefined) return false;
  const parts: Buffer[] = [];
  for await (const part of file.body) parts.push(Buffer.from(part));
  const head = sizeOfCheckpoint(Buffer.concat(parts).toString("utf8"));
  if (head === undefined) return true;
  // Entries are committed before a checkpoint of them is signed, by another node, too.
  const { size } = (await findLog(database, log.logId)) ?? log;
  if (head.size > size) return true;
  return !head.root.equals(await rootOf(database, log.logId, head.size));
}

/** Appends one batch of what was billed and publishes it. Returns whether there is more. */
export async function continueLog(deps: PublishDeps): Promise<{ hasMore: boolean }> {
  if ((await readCurrentLog(deps.database)) === undefined) await beginLog(deps, 1);
  const appended = await appendEntries(deps.database);
  await publishLog(deps);
  return appended;
}

const EVERY_MS = 10_000;

/** Continues the log until it is stopped. Any number of nodes may run it. */
export function startBillingLog(deps: PublishDeps): BackgroundLoop {
  return startLoop({
    everyMs: EVERY_MS,
    round: async () => ((await continueLog(deps)).hasMore ? 0 : undefined),
    onFault: (error) => deps.log.error({ err: error }, "the log of billed events could not be continued; trying again"),
  });
}
