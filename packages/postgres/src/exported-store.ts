import { open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { sumOfFile, syncFolder } from "./copy-files.ts";
import { StoreFault } from "./store-faults.ts";

/**
 * An export of one server's tables is a folder: files in the text format of COPY, and `export.json`, which is written last:
 * without it the folder is not a whole export.
 */
const manifestName = "export.json";
export const partsFolder = "tables";

const count = z.int().min(0);
const part = z.object({ file: z.string().regex(/^[\w.-]+$/), bytes: count, sha256: z.string() });
const manifest = z.object({
  format: z.literal("intermission-export/1"),
  schema: z.string(),
  /** The schema's version: the checksum of each migration by its name. */
  migrations: z.record(z.string(), z.string()),
  /** Everything that was acknowledged before is in the export, and nothing that began afterwards. */
  takenAt: z.iso.datetime(),
  /** A fingerprint of the key that its secrets are encrypted with; null if it has none. */
  encryptionKey: z.string().nullable(),
  /** In the order in which they are stored: each after those that its foreign keys name. */
  tables: z.array(
    z.object({
      name: z.string(),
      columns: z.array(z.string()).min(1),
      rows: count,
      checksum: z.string(),
      parts: z.array(part),
      /** Those of its weeks, which an import makes first. The bounds are SQL. */
      partitions: z.array(
        z.object({
          name: z.string().regex(/^[a-z_0-9]{1,63}$/),
          bounds: z.string().regex(/^FOR VALUES FROM \((MINVALUE|'[^'\\]{1,99}')\) TO \((MAXVALUE|'[^'\\]{1,99}')\)$/),
          fillfactor: z.int().min(10).max(100).nullable(),
        }),
      ),
    }),
  ),
  sequences: z.array(z.object({ name: z.string(), lastValue: z.string().regex(/^-?\d+$/) })),
  /** Files beside the tables, which the server's own command copies. */
  files: z.array(z.object({ name: z.string().regex(/^[\w.-]+$/), bytes: count, sha256: z.string() })),
});
export type ExportManifest = z.infer<typeof manifest>;
export type ExportedTable = ExportManifest["tables"][number];
export type ExportedFile = ExportManifest["files"][number];
export type ExportedPart = z.infer<typeof part>;

/** Writes the manifest. Afterwards the folder is an export. */
export async function sealExport(folder: string, facts: ExportManifest): Promise<void> {
  const path = join(folder, manifestName);
  const file = await open(`${path}.partial`, "w", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(facts, undefined, 1)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.partial`, path);
  syncFolder(folder);
}

/** Undefined if the folder is not a whole export. Throws a `StoreFault` for a manifest that cannot be read. */
export async function findManifest(folder: string): Promise<{ manifest: ExportManifest; sha256: string } | undefined> {
  const path = join(folder, manifestName);
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    return undefined;
  });
  if (text === undefined) return undefined;
  const read = manifest.safeParse(parsed(text));
  if (!read.success) {
    throw new StoreFault(
      `${path} cannot be read: it is damaged, or of another version of this program; export the store again`,
    );
  }
  return { manifest: read.data, sha256: (await sumOfFile(path)).sha256 };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Throws a `StoreFault` unless the file has the bytes that the manifest names. */
export async function requireUnchanged(path: string, { bytes, sha256 }: ExportedPart | ExportedFile): Promise<void> {
  const found = await sumOfFile(path).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found?.sha256 === sha256 && found.bytes === bytes) return;
  throw new StoreFault(
    `the export is damaged: ${path} is ${found === undefined ? "missing" : "changed"}. Copy it again from where it was made, and repeat the command, which goes on`,
  );
}
