import type { Language } from "../words/languages.ts";

type SortValue = string | number | Date | null | undefined;

/** What decides how a column is sorted. */
export interface Sortable<Row> {
  /** In the address, and in what the browser remembers of the columns. */
  id?: string;
  isNumber?: boolean;
  /** `server`: the list is read page by page, and its id is in the `sort` of its route. */
  sortBy?: "server" | ((row: Row) => SortValue);
}

/** What a press on a column's head leads to: its usual order, the other one, then the order of the list itself. */
export function nextSort(sort: string | undefined, { id, isNumber }: Sortable<never>): string | undefined {
  const usual = isNumber ? `-${id}` : id;
  const other = isNumber ? id : `-${id}`;
  if (sort === usual) return other;
  return sort === other ? undefined : usual;
}

/** How a column is sorted, for `aria-sort`. */
export function sortOf(sort: string | undefined, { id }: Sortable<never>): "ascending" | "descending" | undefined {
  if (id === undefined || sort === undefined) return undefined;
  if (sort === id) return "ascending";
  return sort === `-${id}` ? "descending" : undefined;
}

/** The rows in the order of an address; rows without a value come last, and equal ones keep their places. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Sortable<Row>[],
  sort: string | undefined,
  language: Language,
): readonly Row[] {
  const column = columns.find((one) => sortOf(sort, one) !== undefined);
  const { sortBy } = column ?? {};
  if (column === undefined || sortBy === undefined || sortBy === "server") return rows;
  const sign = sortOf(sort, column) === "descending" ? -1 : 1;
  const texts = new Intl.Collator(language, { numeric: true, sensitivity: "base" });
  const keyed = rows.map((row) => ({ row, key: sortBy(row) ?? undefined }));
  keyed.sort(({ key: one }, { key: other }) => {
    if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
    if (typeof one === "string" && typeof other === "string") return sign * texts.compare(one, other);
    return sign * (Number(one) - Number(other));
  });
  return keyed.map(({ row }) => row);
}
