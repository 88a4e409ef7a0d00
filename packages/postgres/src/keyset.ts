/** The order of a list by its first column, with the id as the last resort. */
export type ListOrder = "oldest" | "newest";

export interface Keyset {
  table: string;
  /** The columns of the order; the last one is the id, which identifies a row. */
  columns: readonly [...string[], string];
  /** The parameters of the id at which an earlier page ended, and of the number of rows. */
  after: string;
  limit: string;
}

/**
 * SQL of one page of a list, for each order: a condition and the end of the statement. A page continues behind the row with
 * the id `after`, so that rows which are added meanwhile move no other row between pages. That row must exist.
 */
export function keysetPage(order: ListOrder, { table, columns, after, limit }: Keyset): { where: string; end: string } {
  const [sign, direction] = order === "oldest" ? [">", "asc"] : ["<", "desc"];
  const of = (alias: string) => columns.map((column) => `${alias}.${column}`).join(", ");
  return {
    where: `(${after}::text is null or (${of(table)}) ${sign}
      (select ${of("last")} from ${table} as last where last.${columns.at(-1)} = ${after}))`,
    end: `order by ${columns.map((column) => `${table}.${column} ${direction}`).join(", ")} limit ${limit}`,
  };
}

export interface ListPage<Row> {
  rows: Row[];
  /** The id with which the next page continues; null if there is none. */
  next: string | null;
}

/** A page of at most `limit` rows out of `limit + 1` that were read, which shows whether more follow. */
export function listPage<Row>(read: readonly Row[], limit: number, idOf: (row: Row) => string): ListPage<Row> {
  const rows = read.slice(0, limit);
  const last = rows.at(-1);
  return { rows, next: last !== undefined && read.length > limit ? idOf(last) : null };
}
