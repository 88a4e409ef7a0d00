import pg from "pg";
import { importProgress } from "./migrate.ts";
import { checksumOf } from "./migration-sql.ts";
import { type Migrations, newestMigration } from "./schema-state.ts";
import { StoreFault } from "./store-faults.ts";

/** A table whose rows an export has. The columns are in the order of their names, which is the same in every store. */
export interface SchemaTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly bytes: number;
  /** The tables that its foreign keys name. */
  readonly references: readonly string[];
}

/** What each store has of its own: the import makes it by the migrations. */
const ownTables = ["migrations", importProgress];

/** The tables of a schema, each after those that its foreign keys name. */
export async function tablesOfSchema(client: pg.ClientBase, schema: string): Promise<SchemaTable[]> {
  const { rows } = await client.query<{ name: string; columns: string[]; bytes: string; references: string[] }>(
    `select relname::text as name,
       coalesce((select sum(pg_total_relation_size(relid)) from pg_partition_tree(pg_class.oid)), pg_total_relation_size(pg_class.oid))::text as bytes,
       array(select attname::text from pg_attribute where attrelid = pg_class.oid and attnum > 0 and not attisdropped
         and attgenerated = '' order by attname collate "C") as columns,
       array(select distinct confrelid::regclass::text from pg_constraint where conrelid = pg_class.oid and contype = 'f')
         as references
     from pg_class where relnamespace = to_regnamespace($1) and relkind in ('r', 'p') and not relispartition
       and relname <> all ($2) order by relname collate "C"`,
    [schema, ownTables],
  );
  const nameOf = (reference: string) => reference.slice(reference.indexOf(".") + 1);
  return afterReferences(
    rows.map((row) => ({ ...row, bytes: Number(row.bytes), references: row.references.map(nameOf) })),
  );
}

/** Orders tables so that each stands after those that its foreign keys name. Throws if they form a circle. */
export function afterReferences<Table extends Pick<SchemaTable, "name" | "references">>(
  tables: readonly Table[],
): Table[] {
  const placed = new Set<string>();
  const ordered: Table[] = [];
  let waiting = [...tables];
  while (waiting.length > 0) {
    const ready = waiting.filter(({ references }) => references.every((name) => placed.has(name)));
    if (ready.length === 0) {
      const names = waiting.map(({ name }) => name).join(", ");
      throw new Error(`the foreign keys of ${names} form a circle, or name a table of another schema`);
    }
    for (const table of ready) placed.add(table.name);
    ordered.push(...ready);
    waiting = waiting.filter((table) => !ready.includes(table));
  }
  return ordered;
}

export function qualified(schema: string, name: string): string {
  return `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`;
}

function columnList({ columns }: Pick<SchemaTable, "columns">): string {
  return columns.map((column) => pg.escapeIdentifier(column)).join(", ");
}

export function copyOut(schema: string, table: Pick<SchemaTable, "name" | "columns">): string {
  return `copy (select ${columnList(table)} from ${qualified(schema, table.name)}) to stdout`;
}

export function copyIn(schema: string, table: Pick<SchemaTable, "name" | "columns">): string {
  return `copy ${qualified(schema, table.name)} (${columnList(table)}) from stdin`;
}

interface SequenceState {
  readonly name: string;
  readonly lastValue: string;
}

/** The sequences that have counted, those of identity columns among them. */
export async function sequencesOf(client: pg.ClientBase, schema: string): Promise<SequenceState[]> {
  const { rows } = await client.query<SequenceState>(
    `select sequencename::text as name, last_value::text as "lastValue" from pg_sequences
     where schemaname = $1 and last_value is not null order by sequencename collate "C"`,
    [schema],
  );
  return rows;
}

/** Throws a `StoreFault` unless the export was made by the same schema version. */
export function requireSameVersion(
  exported: Readonly<Record<string, string>>,
  schema: string,
  migrations: Migrations,
): void {
  const names = [...new Set([...Object.keys(exported), ...Object.keys(migrations)])].sort();
  const differing = names.filter((name) => exported[name] !== checksumOf(migrations[name] ?? ""));
  if (differing.length === 0) return;
  throw new StoreFault(
    `the export of the schema "${schema}" is of another version: it ends with ${Object.keys(exported).sort().at(-1)}, this program's ends ` +
      `with ${newestMigration(migrations)} (${differing.join(", ")} differ): import it by the version that exported it, and update afterwards; ` +
      "or update the store first and export it again by this version",
  );
}
