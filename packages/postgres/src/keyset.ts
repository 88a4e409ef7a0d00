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

const inOrder = {
  oldest: { sign: ">", direction: "asc" },
  newest: { sign: "<", direction: "desc" },
} satisfies Record<ListOrder, object>;

/**
 * SQL of one page of a list, for each order: a condition and the end of the statement. A page continues behind the row with
 * the id `after`, so that rows which are added meanwhile move no other row between pages. That row must exist.
 */
export function keysetPage(order: ListOrder, { table, columns, after, limit }: Keyset): { where: string; end: string } {
  const { sign, direction } = inOrder[order];
  const of = (alias: string) => columns.map((column) => `${alias}.${column}`).join(", ");
  return {
    where: `(${after}::text is null or (${of(table)}) ${sign}
      (select ${of("last")} from ${table} as last where last.${columns.at(-1)} = ${after}))`,
    end: `order by ${columns.map((column) => `${table}.${column} ${direction}`).join(", ")} limit ${limit}`,
  };
}

/** A value that a list is sorted by: SQL over a row of the table or alias `of`, never null. */
export type SortValue = (of: string, isDescending: boolean) => string;

/** SQL of a value that may be null: such rows come last in both directions. `ends`: SQL of what is beyond all values, both ways. */
export function nullsLast(column: string, ends: { first: string; last: string }): SortValue {
  return (of, isDescending) => `coalesce(${of}.${column}, ${isDescending ? ends.first : ends.last})`;
}

/** SQL of a name in any case; of a row without one, its id. */
export function byName(column: string, id?: string): SortValue {
  const name = (of: string) => (id === undefined ? `${of}.${column}` : `coalesce(${of}.${column}, ${of}.${id})`);
  return (of) => `lower(${name(of)}) collate "C"`;
}

/** The value of `sort` in a query, such as `-name`. */
export function sortOf<Value extends string>(sort: Value | `-${Value}`): { value: Value; isDescending: boolean } {
  const isDescending = sort.startsWith("-");
  return { value: (isDescending ? sort.slice(1) : sort) as Value, isDescending };
}

/** Like `keysetPage`, by one value and then the id. */
export function sortedPage(
  { value, isDescending }: { value: SortValue; isDescending: boolean },
  {
    table,
    source = table,
    id,
    after,
    limit,
  }: {
    /** Or the alias of `source`, a query in parentheses. */
    table: string;
    source?: string;
    id: string;
    after: string;
    limit: string;
  },
): { where: string; end: string } {
  const [sign, direction] = isDescending ? ["<", "desc"] : [">", "asc"];
  const of = (alias: string) => value(alias, isDescending);
  return {
    where: `(${after}::text is null or (${of(table)}, ${table}.${id}) ${sign}
      (select ${of("last")}, last.${id} from ${source} as last where last.${id} = ${after}))`,
    end: `order by ${of(table)} ${direction}, ${table}.${id} ${direction} limit ${limit}`,
  };
}

/** The same of sorted rows in memory: those that are listed, behind the row `after`, which is one of them or was. */
export function pageOfRows<Row>(
  sorted: readonly Row[],
  {
    after,
    limit,
    idOf,
    isListed,
  }: { after: string | undefined; limit: number; idOf: (row: Row) => string; isListed: (row: Row) => boolean },
): ListPage<Row> {
  const start = after === undefined ? 0 : sorted.findIndex((row) => idOf(row) === after) + 1;
  return listPage(
    sorted
      .slice(start)
      .filter(isListed)
      .slice(0, limit + 1),
    limit,
    idOf,
  );
}

/** Rows by a value in memory; those without one come last in both directions, and equal ones are in the order of their ids. */
export function sortRows<Row>(
  rows: readonly Row[],
  {
    sortValueOf,
    idOf,
    isDescending,
  }: {
    /** Returns numbers for all rows, or texts for all rows. */
    sortValueOf: (row: Row) => number | string | undefined;
    idOf: (row: Row) => string;
    isDescending: boolean;
  },
): Row[] {
  const sign = isDescending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, value: sortValueOf(row), id: idOf(row) }));
  keyed.sort((one, other) => {
    if (one.value === undefined || other.value === undefined)
      return Number(one.value === undefined) - Number(other.value === undefined) || sign * compare(one.id, other.id);
    return sign * (compare(one.value, other.value) || compare(one.id, other.id));
  });
  return keyed.map(({ row }) => row);
}

function compare(one: number | string, other: number | string): number {
  return one < other ? -1 : Number(one > other);
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
