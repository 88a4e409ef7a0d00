import { mkdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type StorePlace, withStoreConnection } from "@intermission/postgres/connect-store";
import { type Progress, sumOfFile, syncFolder } from "@intermission/postgres/copy-files";
import { exportRows } from "@intermission/postgres/export-store";
import {
  type ExportedFile,
  type ExportManifest,
  findManifest,
  requireUnchanged,
  sealExport,
} from "@intermission/postgres/exported-store";
import { lockFile } from "@intermission/postgres/file-lock";
import { importRows } from "@intermission/postgres/import-store";
import type { Migrations } from "@intermission/postgres/schema-state";
import { countSealed, type KeyedBox, type SealedColumn } from "@intermission/postgres/sealed-columns";
import { forgetAbandonedStore } from "./abandoned-store.ts";
import { requireDataFolder } from "./data-folder.ts";
import { fingerprintOfKey } from "./secret-box.ts";
import { StartFault } from "./start-fault.ts";

/** What an export has beside the rows: files that the rows name. */
export interface MovedFiles {
  /** Names of files, for example by an SQL query with one column. */
  readonly namesQuery: string;
  /** Writes the file to the path. False if there is no such file. */
  copyOut(name: string, path: string): Promise<boolean>;
  has(name: string): Promise<boolean>;
  /** Stores the file at the path under the name. */
  copyIn(path: string, name: string): Promise<void>;
}

/** The store of one server, as its command line moves it. */
export interface MovableStore extends StorePlace {
  /** The server's own folder inside `dataDirectory`. */
  readonly dataFolder: string;
  readonly schema: string;
  readonly migrations: Migrations;
  readonly sealedColumns: readonly SealedColumn[];
  readonly encryptionKey: Uint8Array | undefined;
  readonly hasPreviousKey: boolean;
  readonly box: KeyedBox | undefined;
  readonly files: MovedFiles | undefined;
}

const filesFolder = "files";

export interface Moved {
  readonly manifest: ExportManifest;
  /** Files that rows name and the storage does not have. */
  readonly missingFiles: readonly string[];
}

/**
 * Exports the store to `<folder>/<schema>`, while servers may use it. An export that was interrupted begins again, since all
 * rows are from one moment; files that it copied stay. Rejects with a `StartFault` or a `StoreFault`.
 */
export async function exportStore(store: MovableStore, folder: string, onProgress: Progress): Promise<Moved> {
  const { schema, migrations, files } = store;
  const target = resolve(folder, schema);
  await mkdir(target, { recursive: true, mode: 0o700 });
  const lockPath = join(target, "export.lock");
  const lock = lockFile(lockPath, "exclusive");
  if (lock === undefined)
    throw new StartFault(`another command exports to ${target}: wait for it, or name another folder`);
  try {
    if ((await findManifest(target)) !== undefined)
      throw new StartFault(`${target} is a whole export already: import it, or name another folder`);
    const { rows, facts } = await withStoreConnection(store, { mayCreate: false }, (client) =>
      exportRows(client, {
        schema,
        migrations,
        folder: target,
        onProgress,
        alsoRead: async (reader) => ({
          encryptionKey: keyOfSecrets(store, await countSealed(reader, { ...store, columns: store.sealedColumns })),
          names: files === undefined ? [] : await namesOfFiles(reader, files.namesQuery),
        }),
      }),
    );
    const copied = files === undefined ? [] : await copyFilesOut(files, { names: facts.names, target, onProgress });
    const manifest: ExportManifest = {
      format: "intermission-export/1",
      ...rows,
      encryptionKey: facts.encryptionKey,
      files: copied,
    };
    await sealExport(target, manifest);
    const there = new Set(copied.map(({ name }) => name));
    return { manifest, missingFiles: facts.names.filter((name) => !there.has(name)) };
  } finally {
    lock.unlock();
    await rm(lockPath, { force: true });
  }
}

async function namesOfFiles(
  client: { query<Row extends object>(text: string): Promise<{ rows: Row[] }> },
  text: string,
): Promise<string[]> {
  return (await client.query<{ name: string }>(text)).rows.map(({ name }) => name);
}

/** The fingerprint of the one key that opens all secrets, or null if there are none. */
function keyOfSecrets(
  { encryptionKey }: Pick<MovableStore, "encryptionKey">,
  { current, previous, unreadable }: Awaited<ReturnType<typeof countSealed>>,
): string | null {
  if (encryptionKey === undefined) {
    if (unreadable.length === 0) return null;
    throw new StartFault("ENCRYPTION_KEY is missing: set it to the servers' key, which the secrets of this store need");
  }
  if (previous > 0) {
    throw new StartFault(
      "a part of the secrets is encrypted with PREVIOUS_ENCRYPTION_KEY: end the rotation first, by rotate-encryption-key",
    );
  }
  if (current === 0 && unreadable.length > 0) {
    throw new StartFault(
      "ENCRYPTION_KEY is not the key that the secrets of this store were encrypted with: set the key that its servers use",
    );
  }
  return current === 0 ? null : fingerprintOfKey(encryptionKey);
}

async function copyFilesOut(
  files: MovedFiles,
  options: { readonly names: readonly string[]; readonly target: string; readonly onProgress: Progress },
): Promise<ExportedFile[]> {
  const { names, target, onProgress } = options;
  const into = join(target, filesFolder);
  await mkdir(into, { recursive: true, mode: 0o700 });
  const copied: ExportedFile[] = [];
  for (const name of names) {
    onProgress(`copying the files (${copied.length} of ${names.length})`, 0, 0);
    const path = join(into, name);
    // A name appears with all of its bytes, and a file of that name never changes.
    const known = await sumOfFile(path).catch(() => undefined);
    if (known === undefined) {
      if (!(await files.copyOut(name, `${path}.partial`))) continue;
      await rename(`${path}.partial`, path);
    }
    copied.push({ name, ...(known ?? (await sumOfFile(path))) });
  }
  syncFolder(into);
  return copied;
}

/**
 * Imports an export of this server into a store without its schema, and compares it. Repeated after an interruption, it goes
 * on. Rejects with a `StartFault` or a `StoreFault`.
 */
export async function importStore(store: MovableStore, folder: string, onProgress: Progress): Promise<ExportManifest> {
  const { schema, migrations, files, databaseUrl } = store;
  const source = resolve(folder, schema);
  const exported = await findManifest(source);
  if (exported === undefined) {
    throw new StartFault(
      `${source} is not a whole export, since it has no export.json: name the folder that the command export was called with; ` +
        "if it was interrupted, repeat it",
    );
  }
  const { manifest } = exported;
  if (manifest.schema !== schema)
    throw new StartFault(
      `${source} is an export of the schema "${manifest.schema}", not of "${schema}": name another folder`,
    );
  requireSameKey(manifest, store.encryptionKey);
  // While the folder is claimed, no server starts on it.
  const claim = databaseUrl === undefined ? await requireDataFolder(store.dataFolder) : undefined;
  try {
    await withStoreConnection(store, { mayCreate: true }, (client) =>
      importRows(client, {
        schema,
        migrations,
        folder: source,
        exported,
        onProgress,
        copyOthers: async () => files && copyFilesIn(files, { manifest, source, onProgress }),
      }),
    );
    forgetAbandonedStore(store);
    return manifest;
  } finally {
    await claim?.release();
  }
}

function requireSameKey({ encryptionKey: exported }: ExportManifest, key: Uint8Array | undefined): void {
  if (exported === null) return;
  if (key === undefined) {
    throw new StartFault(
      "ENCRYPTION_KEY is missing: set it to the key that the exported store was used with, which its secrets need",
    );
  }
  if (fingerprintOfKey(key) === exported) return;
  throw new StartFault(
    "ENCRYPTION_KEY is not the key that the exported store was used with, so that its secrets could not be read: set that key. " +
      "It can be changed after the import, by rotate-encryption-key",
  );
}

async function copyFilesIn(
  files: MovedFiles,
  options: { readonly manifest: ExportManifest; readonly source: string; readonly onProgress: Progress },
): Promise<void> {
  const { manifest, source, onProgress } = options;
  let done = 0;
  for (const file of manifest.files) {
    onProgress(`storing the files (${done} of ${manifest.files.length})`, 0, 0);
    done += 1;
    if (await files.has(file.name)) continue;
    const path = join(source, filesFolder, file.name);
    await requireUnchanged(path, file);
    await files.copyIn(path, file.name);
  }
}
