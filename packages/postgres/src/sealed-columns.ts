import pg from "pg";
import { qualified } from "./schema-tables.ts";

/** A column with encrypted secrets. The owner's id is authenticated with each. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly owner: string;
  readonly primaryKey: readonly string[];
}

/** Encrypts with one key, and decrypts with it or with the previous one. */
export interface KeyedBox {
  seal(secret: string, owner: string): Buffer;
  open(sealed: Buffer, owner: string): string;
  /** Whether the current key opens it. */
  isCurrent(sealed: Buffer, owner: string): boolean;
}

/** How many secrets are encrypted with which key. */
export interface SealedCounts {
  readonly current: number;
  readonly previous: number;
  /** The owners of secrets that neither key opens. */
  readonly unreadable: readonly string[];
}

/** Counts the secrets of a schema by the key that opens them. */
export async function countSealed(
  client: pg.ClientBase,
  { schema, columns, box }: { schema: string; columns: readonly SealedColumn[]; box: KeyedBox | undefined },
): Promise<SealedCounts> {
  const counts = { current: 0, previous: 0, unreadable: new Set<string>() };
  for await (const { owner, sealed } of sealedRows(client, schema, columns)) {
    const key = box === undefined ? "unreadable" : keyOf(box, sealed, owner);
    if (key === "unreadable") counts.unreadable.add(owner);
    else counts[key] += 1;
  }
  return { ...counts, unreadable: [...counts.unreadable] };
}

/**
 * Encrypts every secret of a schema with the current key. Servers may run meanwhile: a secret that changes meanwhile is
 * written by a server, with its own current key. Repeating it does what is left.
 */
export async function sealAnew(
  client: pg.ClientBase,
  { schema, columns, box }: { schema: string; columns: readonly SealedColumn[]; box: KeyedBox },
): Promise<SealedCounts> {
  const counts = { current: 0, previous: 0, unreadable: new Set<string>() };
  for await (const { from, key, owner, sealed } of sealedRows(client, schema, columns)) {
    const opener = keyOf(box, sealed, owner);
    if (opener === "unreadable") counts.unreadable.add(owner);
    else counts[opener] += 1;
    if (opener !== "previous") continue;
    const column = pg.escapeIdentifier(from.column);
    const isRow = from.primaryKey.map((name, index) => `${pg.escapeIdentifier(name)} = $${index + 3}`).join(" and ");
    await client.query(`update ${qualified(schema, from.table)} set ${column} = $1 where ${column} = $2 and ${isRow}`, [
      box.seal(box.open(sealed, owner), owner),
      sealed,
      ...key,
    ]);
  }
  return { ...counts, unreadable: [...counts.unreadable] };
}

function keyOf(box: KeyedBox, sealed: Buffer, owner: string): "current" | "previous" | "unreadable" {
  if (box.isCurrent(sealed, owner)) return "current";
  try {
    box.open(sealed, owner);
    return "previous";
  } catch {
    return "unreadable";
  }
}

const PAGE_ROWS = 500;

interface SealedRow {
  readonly from: SealedColumn;
  readonly key: readonly string[];
  readonly owner: string;
  readonly sealed: Buffer;
}

async function* sealedRows(
  client: pg.ClientBase,
  schema: string,
  columns: readonly SealedColumn[],
): AsyncGenerator<SealedRow> {
  for (const from of columns) {
    const names = from.primaryKey.map((name) => pg.escapeIdentifier(name)).join(", ");
    const places = from.primaryKey.map((_, index) => `$${index + 2}`).join(", ");
    const column = pg.escapeIdentifier(from.column);
    let after: readonly string[] | undefined;
    for (;;) {
      const { rows } = await client.query<{ key: string[]; owner: string; sealed: Buffer }>(
        `select array[${names}] as key, ${pg.escapeIdentifier(from.owner)} as owner, ${column} as sealed
         from ${qualified(schema, from.table)} where ${column} is not null ${after === undefined ? "" : `and (${names}) > (${places})`}
         order by ${names} limit $1`,
        [PAGE_ROWS, ...(after ?? [])],
      );
      for (const row of rows) yield { from, ...row };
      after = rows.at(-1)?.key;
      if (rows.length < PAGE_ROWS) break;
    }
  }
}
