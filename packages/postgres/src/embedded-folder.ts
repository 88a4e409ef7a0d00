import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { startEmbeddedEngine } from "./start-embedded-engine.ts";
import { EngineDeath, faultOfDeath, StoreFault, wordsOf } from "./store-faults.ts";

/** Without these the engine does not start, or makes a new store over the remains of the old one. */
const neededEntries = [
  "PG_VERSION",
  "base",
  "global",
  "global/pg_control",
  "pg_hba.conf",
  "pg_multixact",
  "pg_notify",
  "pg_replslot",
  "pg_twophase",
  "pg_wal",
  "pg_xact",
  "postgresql.conf",
];
/** Files that a data folder may contain before its store exists: lock and socket of the process that makes the store. */
const notOfAStore = /^(owner\.lock(-journal)?|server\.sock(\.new)?|lost\+found)$/;

/**
 * The folder of the store in `dataDirectory`; makes the store if it is missing. The process must have claimed the data
 * directory. Throws a `StoreFault` for an incomplete store, because PGlite would replace it by a new one.
 */
export async function readyStoreFolder(dataDirectory: string, { mayCreate }: { mayCreate: boolean }): Promise<string> {
  const folder = join(dataDirectory, "postgres");
  const entries = await entriesOf(folder);
  if (entries.length > 0) {
    await refuseIncomplete(folder);
    return folder;
  }
  if (!mayCreate) {
    throw new StoreFault(
      `${dataDirectory} holds no store: start the server, which makes one, or name the right folder by DATA_DIR`,
    );
  }
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  await createStore(dataDirectory, folder);
  return folder;
}

async function refuseIncomplete(folder: string): Promise<void> {
  const present = new Set([
    ...(await entriesOf(folder)),
    ...(await entriesOf(join(folder, "global"))).map((name) => `global/${name}`),
  ]);
  const missing = neededEntries.filter((name) => !present.has(name));
  if (missing.length === 0) return;
  throw new StoreFault(
    `${folder} is not a whole store, ${missing.slice(0, 3).join(", ")}${missing.length > 3 ? ` and ${missing.length - 3} more` : ""} missing: ` +
      "restore all of the folder from a backup, its empty folders too; or move it away to begin with an empty store",
  );
}

/**
 * Makes the store under another name and renames it: if the process crashes meanwhile, the next start recognises the
 * incomplete folder and makes it again.
 */
async function createStore(dataDirectory: string, folder: string): Promise<void> {
  const halfMade = `${folder}.new`;
  const others = await otherDataIn(dataDirectory);
  if (others.length > 0) {
    throw new StoreFault(
      `${dataDirectory} holds ${others.slice(0, 3).join(", ")} but no store (${folder} is missing or empty): restore it from a backup, ` +
        "or set DATABASE_URL if the data are in a PostgreSQL server; to begin with an empty store, move the folder away",
    );
  }
  await rm(halfMade, { recursive: true, force: true });
  try {
    await (await startEmbeddedEngine(halfMade)).close();
  } catch (error) {
    await rm(halfMade, { recursive: true, force: true }).catch(() => {});
    throw error instanceof EngineDeath ? faultOfCreation(folder, error) : error;
  }
  await rename(halfMade, folder);
}

function faultOfCreation(folder: string, error: EngineDeath): StoreFault {
  const fault = faultOfDeath(folder, error);
  if (fault.message.startsWith("the disk")) return fault;
  return new StoreFault(`no store can be made in ${folder}: ${wordsOf(error)}`, { cause: error });
}

/** Other data in the data directory, without empty folders. */
async function otherDataIn(dataDirectory: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(dataDirectory, { withFileTypes: true })) {
    const isOfTheStore = entry.name === "postgres" || entry.name === "postgres.new";
    if (isOfTheStore || notOfAStore.test(entry.name)) continue;
    if (entry.isDirectory() && (await entriesOf(join(dataDirectory, entry.name))).length === 0) continue;
    found.push(entry.name);
  }
  return found;
}

/** Empty for a missing folder. */
async function entriesOf(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
