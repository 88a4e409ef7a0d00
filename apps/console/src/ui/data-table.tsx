import { Link, useSearch } from "@tanstack/react-router";
import { Fragment, type KeyboardEvent, type ReactNode, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useLanguage, useWords } from "../words/word-table.ts";
import { Button } from "./button.tsx";
import { useHiddenColumns } from "./list-columns.ts";
import { type RowSelection, SelectAll, SelectRow } from "./row-selection.tsx";
import { nextSort, type Sortable, sortOf, sortRows } from "./sort-rows.ts";
import { uiWords } from "./words.ts";

export interface Column<Row> extends Sortable<Row> {
  /** Unique in its table; empty over buttons. */
  title: string;
  cell: (row: Row) => ReactNode;
  /** A filter of the rows, in the column's head, or above a narrow table. */
  filter?: ReactNode;
}

interface DataTableProps<Row> {
  /** For screen readers: what the table lists. */
  label: string;
  columns: readonly Column<Row>[];
  /** The same array while they and what they are sorted by are the same: sorting many takes a while. */
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The list's name, for the columns that are chosen in its `ListView`, and for the order of its address. */
  list?: string;
  /** Where rows can be chosen: a checkbox before each. */
  selection?: RowSelection<Row> | undefined;
  /** Of TanStack Query, where the list is read page by page: the button under it reads the next one. */
  pages?: Pages;
  /** Below the heads and their filters where there are no rows. */
  empty?: ReactNode;
}

export interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

/** More rows at once make a browser wait. */
const SHOWN_ROWS = 100;

/**
 * A table whose rows become cards where it is narrow. The first column names the row: put a link with the class `row-link`
 * in it, which then covers the row; other links and buttons stay above it. Of a long list that is read whole the first rows are
 * shown, and more on request.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns: all, rows, keyOf, list = "", selection, pages, empty } = props;
  const words = useWords(uiWords);
  const language = useLanguage();
  const { sort }: { sort?: string } = useSearch({ strict: false });
  const [hidden] = useHiddenColumns(list);
  const columns = all.filter(({ id }) => id === undefined || !hidden.includes(id));
  const sorted = useMemo(() => sortRows(rows, all, sort, language), [rows, sort, language]);
  const [shown, setShown] = useState(SHOWN_ROWS);
  const { box, hasHeadFilters } = useFitting();
  const filters = columns.filter(({ filter }) => filter);
  const pressed = useRef<string>(undefined);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages ?? {
    hasNextPage: rows.length > shown,
    isFetchingNextPage: false,
    fetchNextPage: () => setShown(shown + SHOWN_ROWS),
  };
  return (
    <>
      {!hasHeadFilters && filters.length > 0 && (
        <div className="list-head">
          {filters.map(({ title, filter }) => (
            <Fragment key={title}>{filter}</Fragment>
          ))}
        </div>
      )}
      <div className="table-box" ref={box}>
        <table className="table" aria-label={label} {...(selection?.table && { ref: selection.table, tabIndex: -1 })}>
          <thead>
            <tr>
              {selection && (
                <th scope="col" className="select">
                  <SelectAll rows={rows} keyOf={keyOf} selection={selection} />
                </th>
              )}
              {columns.map((column) => (
                <Head
                  key={column.title}
                  column={hasHeadFilters ? column : { ...column, filter: undefined }}
                  sort={sort}
                />
              ))}
            </tr>
          </thead>
          <tbody onKeyDown={moveAmongRows}>
            {(pages === undefined ? sorted.slice(0, shown) : sorted).map((row) => (
              <tr key={keyOf(row)}>
                {selection && (
                  <td className="select">
                    <SelectRow row={row} rows={sorted} keyOf={keyOf} selection={selection} pressed={pressed} />
                  </td>
                )}
                {columns.map(({ title, cell, isNumber }, index) =>
                  index === 0 ? (
                    <th key={title} scope="row">
                      {cell(row)}
                    </th>
                  ) : (
                    <td key={title} className={isNumber ? "number" : undefined} data-title={title}>
                      {cell(row)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && empty}
      {hasNextPage && (
        <div className="row list-more">
          <Button isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {words.more}
          </Button>
        </div>
      )}
    </>
  );
}

/** The head of a column; of one that can be sorted it is a link to the list in its order. */
function Head<Row>({ column, sort }: { column: Column<Row>; sort: string | undefined }) {
  const words = useWords(uiWords);
  const address: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const { title, isNumber, sortBy, filter } = column;
  const text = title === "" ? <span className="only-heard">{words.actions}</span> : title;
  return (
    <th
      scope="col"
      className={isNumber ? "number" : undefined}
      aria-sort={sortBy && sortOf(sort, column)}
      // Without it, the name would have the words of the filter.
      aria-label={filter ? title : undefined}
    >
      {sortBy === undefined ? (
        text
      ) : (
        <Link to="." search={{ ...address, sort: nextSort(sort, column) }} replace resetScroll={false}>
          {text}
        </Link>
      )}
      {filter && <div className="head-filter">{filter}</div>}
    </th>
  );
}

/** The arrow keys move the focus from a row's name to that of the next row or the one before, Home and End to the first and last. */
function moveAmongRows(event: KeyboardEvent<HTMLTableSectionElement>): void {
  const { key, target, currentTarget } = event;
  if (!(target instanceof HTMLElement) || !target.matches(".row-link")) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const links = [...currentTarget.querySelectorAll<HTMLElement>(".row-link")];
  const index = links.indexOf(target);
  const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: links.length - 1 }[key];
  if (next === undefined || links[next] === undefined) return;
  event.preventDefault();
  links[next].focus();
}

/** In a narrower table (controls.css), the filters are above it. */
const MIN_LETTERS_OF_FILTERS = 62;

/**
 * Marks a box whose table fits in its width. It need not scroll then, so that the table's head stays at the upper edge of the
 * window; in a box that scrolls, it can only stay at the upper edge of the box. `hasHeadFilters`: whether the heads are shown
 * and wide enough for filters whose words can be read.
 */
function useFitting() {
  const box = useRef<HTMLDivElement>(null);
  const [hasHeadFilters, setHeadFilters] = useState(true);
  useLayoutEffect(() => {
    const table = box.current?.querySelector("table");
    if (!box.current || !table) return;
    const { current } = box;
    const measure = () => {
      current.toggleAttribute("data-fits", table.scrollWidth <= current.clientWidth);
      const letters = current.clientWidth / Number.parseFloat(getComputedStyle(current).fontSize);
      setHeadFilters(letters >= MIN_LETTERS_OF_FILTERS);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    observer.observe(table);
    return () => observer.disconnect();
  }, []);
  return { box, hasHeadFilters };
}
