import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { type Progress, syncFolder } from "./copy-files.ts";
import { type ExportedPart, type ExportedTable, type ExportManifest, partsFolder } from "./exported-store.ts";
import { ranMigrations, requireMigrated } from "./migrate.ts";
import { partitionsOf } from "./partitions.ts";
import { RowSums } from "./row-sum.ts";
import type { Migrations } from "./schema-state.ts";
import { copyOut, type SchemaTable, sequencesOf, tablesOfSchema } from "./schema-tables.ts";
import { movingSettings } from "./session-settings.ts";

/** A part of a table is stored by one transaction of an import: an import that was stopped repeats one part at most. */
const PART_BYTES = 32 * 1024 * 1024;

/** What the rows of a store show of it. */
type ExportedRows = Pick<ExportManifest, "schema" | "migrations" | "takenAt" | "tables" | "sequences">;

/**
 * Writes all rows of a schema, as one snapshot sees them, to files in `tables` of the folder. Servers may use the store
 * meanwhile. `alsoRead` reads in the same snapshot. What an earlier, interrupted export left there is replaced.
 */
export async function exportRows<Facts>(
  client: pg.Client,
  options: {
    readonly schema: string;
    readonly migrations: Migrations;
    readonly folder: string;
    readonly alsoRead: (client: pg.ClientBase) => Promise<Facts>;
    readonly onProgress: Progress;
    readonly partBytes?: number;
  },
): Promise<{ rows: ExportedRows; facts: Facts }> {
  const { schema, migrations, folder, alsoRead, onProgress, partBytes = PART_BYTES } = options;
  const into = join(folder, partsFolder);
  await rm(into, { recursive: true, force: true });
  await mkdir(into, { mode: 0o700 });
  await client.query(movingSettings);
  await client.query("begin isolation level repeatable read read only");
  try {
    await requireMigrated(client, schema, migrations);
    // The snapshot is taken by the transaction's first statement, which has run.
    const { rows } = await client.query<{ now: Date }>("select clock_timestamp() as now");
    const facts = await alsoRead(client);
    const found = await tablesOfSchema(client, schema);
    const partitions = await partitionsOf(client, schema);
    const total = found.reduce((sum, { bytes }) => sum + bytes, 0);
    const tables: ExportedTable[] = [];
    let done = 0;
    for (const table of found) {
      const report = (bytes: number) => onProgress("exporting the tables", Math.min(done + bytes, total), total);
      const weeks = partitions
        .filter((one) => one.table === table.name && !one.isDetaching)
        .map(({ name, bounds, fillfactor }) => ({ name, bounds, fillfactor }));
      tables.push({ ...(await exportTable(client, { schema, table, into, partBytes, report })), partitions: weeks });
      done += table.bytes;
    }
    const sequences = await sequencesOf(client, schema);
    const ran = [...(await ranMigrations(client, schema))].map(([name, { checksum }]) => [name, checksum]);
    await client.query("commit");
    syncFolder(into);
    syncFolder(folder);
    const takenAt = (rows[0]?.now ?? new Date()).toISOString();
    return { rows: { schema, migrations: Object.fromEntries(ran), takenAt, tables, sequences }, facts };
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

async function exportTable(
  client: pg.Client,
  options: {
    readonly schema: string;
    readonly table: SchemaTable;
    readonly into: string;
    readonly partBytes: number;
    readonly report: (bytes: number) => void;
  },
): Promise<Omit<ExportedTable, "partitions">> {
  const { schema, table, into, partBytes, report } = options;
  const sums = new RowSums();
  const parts: ExportedPart[] = [];
  let writing: PartWriter | undefined;
  let written = 0;
  try {
    for await (const chunk of client.query(copyTo(copyOut(schema, table)))) {
      const bytes: Buffer = chunk;
      sums.add(bytes);
      for (let at = 0; at < bytes.length; ) {
        writing ??= await beginPart(into, `${table.name}.${String(parts.length + 1).padStart(5, "0")}.copy`);
        // A part ends with a whole row.
        const lineEnd = bytes.indexOf("\n", at + Math.max(0, partBytes - writing.bytes - 1));
        const end = lineEnd === -1 ? bytes.length : lineEnd + 1;
        await writePart(writing, bytes.subarray(at, end));
        at = end;
        if (lineEnd === -1) continue;
        parts.push(await endPart(writing));
        writing = undefined;
      }
      written += bytes.length;
      report(written);
    }
    if (writing !== undefined) parts.push(await endPart(writing));
    writing = undefined;
  } finally {
    await writing?.handle.close();
  }
  return { name: table.name, columns: [...table.columns], ...sums.result(), parts };
}

interface PartWriter {
  readonly file: string;
  readonly handle: FileHandle;
  readonly hash: ReturnType<typeof createHash>;
  bytes: number;
}

async function beginPart(folder: string, file: string): Promise<PartWriter> {
  return { file, handle: await open(join(folder, file), "wx", 0o600), hash: createHash("sha256"), bytes: 0 };
}

async function writePart(part: PartWriter, bytes: Buffer): Promise<void> {
  await part.handle.writeFile(bytes);
  part.hash.update(bytes);
  part.bytes += bytes.length;
}

async function endPart({ file, handle, hash, bytes }: PartWriter): Promise<ExportedPart> {
  await handle.sync();
  await handle.close();
  return { file, bytes, sha256: hash.digest("hex") };
}
