import { type ReactNode, useState } from "react";
import { useWords } from "../words/word-table.ts";
import { Button } from "./button.tsx";
import { uiWords } from "./words.ts";

export interface Column<Row> {
  /** Unique in its table; empty over buttons. */
  title: string;
  cell: (row: Row) => ReactNode;
  isNumber?: boolean;
}

interface DataTableProps<Row> {
  /** For screen readers: what the table lists. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Of TanStack Query, where the list is read page by page: the button under it reads the next one. */
  pages?: Pages;
}

export interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

/** More rows at once make a browser wait. */
const SHOWN_ROWS = 250;

/**
 * A table whose rows become cards where it is narrow. The first column names the row: put a link with the class `row-link`
 * in it, which then covers the row; other links and buttons stay above it. Of a long list that is read whole the first rows are
 * shown, and more on request.
 */
export function DataTable<Row>({ label, columns, rows, keyOf, pages }: DataTableProps<Row>) {
  const words = useWords(uiWords);
  const [shown, setShown] = useState(SHOWN_ROWS);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages ?? {
    hasNextPage: rows.length > shown,
    isFetchingNextPage: false,
    fetchNextPage: () => setShown(shown + SHOWN_ROWS),
  };
  return (
    <>
      <div className="table-box">
        <table className="table" aria-label={label}>
          <thead>
            <tr>
              {columns.map(({ title, isNumber }) => (
                <th key={title} scope="col" className={isNumber ? "number" : undefined}>
                  {title === "" ? <span className="only-heard">{words.actions}</span> : title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(pages === undefined ? rows.slice(0, shown) : rows).map((row) => (
              <tr key={keyOf(row)}>
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
