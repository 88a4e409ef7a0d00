import { createReadStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import type { Progress } from "./copy-files.ts";
import { type ExportedTable, type ExportManifest, partsFolder, requireUnchanged } from "./exported-store.ts";
import { importProgress, migrate } from "./migrate.ts";
import { makePartitionText, partitionsOf } from "./partitions.ts";
import { RowSums } from "./row-sum.ts";
import type { Migrations } from "./schema-state.ts";
import { copyIn, copyOut, qualified, requireSameVersion, tablesOfSchema } from "./schema-tables.ts";
import { movingSettings } from "./session-settings.ts";
import { StoreFault } from "./store-faults.ts";

interface ImportOptions {
  readonly schema: string;
  readonly migrations: Migrations;
  readonly folder: string;
  readonly exported: { readonly manifest: ExportManifest; readonly sha256: string };
  readonly onProgress: Progress;
  /** Copies what belongs to the rows, such as videos, before servers may use the store. */
  readonly copyOthers: () => Promise<void>;
}

/**
 * Stores an export in a database without the schema, compares the rows of each table with the export, and lets servers use
 * it. An import that was stopped at any moment goes on with the part that was not stored; until the end servers refuse the
 * schema. Rejects with a `StoreFault`.
 */
export async function importRows(client: pg.Client, options: ImportOptions): Promise<void> {
  const { schema, migrations, exported, onProgress } = options;
  const { manifest } = exported;
  requireSameVersion(manifest.migrations, schema, migrations);
  await client.query(`${movingSettings}; set search_path to ${pg.escapeIdentifier(schema)}`);
  const { rows } = await client.query<{ locked: boolean }>("select pg_try_advisory_lock(hashtext($1)) as locked", [
    `intermission.import.${schema}`,
  ]);
  if (rows[0]?.locked !== true)
    throw new StoreFault(`another command imports the schema "${schema}" into this store: wait for it`);
  const stored = await beginImport(client, options);
  await migrate(client, schema, migrations, { isImporting: true });
  const tables = await tablesOfSchema(client, schema);
  requireSameTables(manifest.tables, tables, schema);
  if (stored.size === 0) await emptyTables(client, schema, tables.toReversed());
  await remakePartitions(client, schema, manifest.tables);
  await importParts(client, options, stored);
  await options.copyOthers();
  await compareTables(client, schema, manifest.tables, onProgress);
  await endImport(client, schema, manifest);
}

/** Returns the parts that are stored. The table of progress is made first, in the transaction that makes the schema. */
async function beginImport(
  client: pg.Client,
  { schema, folder, exported }: ImportOptions,
): Promise<ReadonlySet<string>> {
  const progress = qualified(schema, importProgress);
  const { rows: found } = await client.query<{ name: string }>(
    "select relname::text as name from pg_class where relnamespace = to_regnamespace($1) and relkind in ('r', 'p')",
    [schema],
  );
  if (found.length === 0) {
    await client.query("begin");
    const { rowCount } = await client.query("select from pg_namespace where nspname = $1", [schema]);
    if (rowCount === 0) await client.query(`create schema ${pg.escapeIdentifier(schema)}`);
    await client.query(`create table ${progress} (export_sha256 text not null, part text primary key)`);
    await client.query(`insert into ${progress} values ($1, '')`, [exported.sha256]);
    await client.query("commit");
    return new Set();
  }
  if (!found.some(({ name }) => name === importProgress)) {
    throw new StoreFault(
      `the schema "${schema}" is in the store already, and an import never mixes two stores. If it is from this import, which was ` +
        "interrupted in its last moment, the import is complete: start the servers. Otherwise name an empty store by DATABASE_URL or " +
        `DATA_DIR; or, if nothing in this one is needed, stop the servers and remove it: drop schema ${schema} cascade`,
    );
  }
  const { rows } = await client.query<{ export_sha256: string; part: string }>(`select * from ${progress}`);
  if (rows.some((row) => row.export_sha256 !== exported.sha256)) {
    throw new StoreFault(
      `an import of another export into the schema "${schema}" was begun: repeat it with that export, or begin anew after: ` +
        `drop schema ${schema} cascade. ${folder} was not read`,
    );
  }
  return new Set(rows.flatMap(({ part }) => (part === "" ? [] : [part])));
}

function requireSameTables(
  exported: readonly ExportedTable[],
  found: readonly { readonly name: string; readonly columns: readonly string[] }[],
  schema: string,
): void {
  const describe = ({ name, columns }: { name: string; columns: readonly string[] }) =>
    `${name} (${columns.join(", ")})`;
  const [here, there] = [found.map(describe), exported.map(describe)];
  const differing = [...here.filter((one) => !there.includes(one)), ...there.filter((one) => !here.includes(one))];
  if (differing.length === 0) return;
  throw new StoreFault(
    `the schema "${schema}" of the export has other tables than this program's, though their versions are the same: ${differing[0]}; ` +
      "somebody changed one of the stores by hand: undo that, and export it again",
  );
}

/** Removes the rows that the migrations insert: the export has its own. */
async function emptyTables(client: pg.Client, schema: string, tables: readonly { name: string }[]): Promise<void> {
  await client.query("begin");
  for (const { name } of tables) {
    const table = qualified(schema, name);
    // Append-only tables refuse the statement, even without rows.
    const { rows } = await client.query<{ has_rows: boolean }>(`select exists (select from ${table}) as has_rows`);
    if (rows[0]?.has_rows === true) await client.query(`delete from ${table}`);
  }
  await client.query("commit");
}

/** Makes the partitions that the exported store had, unless an earlier run of this import did. */
async function remakePartitions(
  client: pg.Client,
  schema: string,
  tables: readonly Pick<ExportedTable, "name" | "partitions">[],
): Promise<void> {
  const found = await partitionsOf(client, schema);
  const texts = tables.flatMap(({ name: table, partitions }) =>
    partitions
      .filter(({ name }) => !found.some((one) => one.name === name))
      .map(({ name, bounds, fillfactor }) =>
        makePartitionText(schema, { table, name, bounds, fillfactor: fillfactor ?? undefined }),
      ),
  );
  if (texts.length > 0) await client.query(texts.join(";\n"));
}

async function importParts(
  client: pg.Client,
  { schema, folder, exported, onProgress }: ImportOptions,
  stored: ReadonlySet<string>,
): Promise<void> {
  const { manifest, sha256 } = exported;
  const total = manifest.tables.flatMap(({ parts }) => parts).reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const table of manifest.tables) {
    for (const part of table.parts) {
      onProgress("importing the tables", done, total);
      done += part.bytes;
      if (stored.has(part.file)) continue;
      const path = join(folder, partsFolder, part.file);
      await requireUnchanged(path, part);
      await client.query("begin");
      try {
        await pipeline(createReadStream(path), client.query(copyFrom(copyIn(schema, table))));
        await client.query(`insert into ${qualified(schema, importProgress)} values ($1, $2)`, [sha256, part.file]);
        await client.query("commit");
      } catch (error) {
        await client.query("rollback").catch(() => {});
        throw error;
      }
    }
  }
}

/** Throws a `StoreFault` that names the first table whose rows are not those of the export. */
async function compareTables(
  client: pg.Client,
  schema: string,
  tables: readonly ExportedTable[],
  onProgress: Progress,
): Promise<void> {
  const total = tables.flatMap(({ parts }) => parts).reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const table of tables) {
    const sums = new RowSums();
    for await (const chunk of client.query(copyTo(copyOut(schema, table)))) {
      sums.add(chunk);
      done += chunk.length;
      onProgress("comparing the tables", Math.min(done, total), total);
    }
    const { rows, checksum } = sums.result();
    if (rows === table.rows && checksum === table.checksum) continue;
    const difference =
      rows === table.rows ? `${rows} rows with another checksum` : `${rows} rows instead of ${table.rows}`;
    throw new StoreFault(
      `the table ${schema}.${table.name} differs from the export: it has ${difference}. Something else wrote to it. Begin anew: ` +
        `drop schema ${schema} cascade, then repeat the command`,
    );
  }
}

/** Lets servers use the store. */
async function endImport(client: pg.Client, schema: string, manifest: ExportManifest): Promise<void> {
  for (const { name } of manifest.tables) await client.query(`analyze ${qualified(schema, name)}`);
  await client.query("begin");
  for (const { name, lastValue } of manifest.sequences)
    await client.query("select setval($1::regclass, $2::bigint)", [qualified(schema, name), lastValue]);
  await client.query(`drop table ${qualified(schema, importProgress)}`);
  await client.query("commit");
}
