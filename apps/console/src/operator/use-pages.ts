import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";

/**
 * A list that is read page by page. `key` names the list and its filters; `readPage` reads the page after a cursor,
 * which is the `next` of the page before. With `keepsRows`, the rows of the filters before stay until the new ones are read:
 * leaving the search field by a press on a row starts a search, and the row must be there when the press ends.
 */
export function usePages<Answer extends { next: string | null }>(
  key: readonly unknown[],
  readPage: (cursor: string | undefined, signal: AbortSignal) => Promise<Answer>,
  { keepsRows = false } = {},
) {
  return useInfiniteQuery({
    queryKey: key,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    getNextPageParam: ({ next }) => next ?? undefined,
    ...(keepsRows && { placeholderData: keepPreviousData }),
  });
}

/** So many rows of a list are read at once. */
export const PAGE_ROWS = 50;

/** The order of an address, if the list's route has it. */
export function sortIn<Value extends string>(
  sort: string | undefined,
  values: readonly Value[],
): Value | `-${Value}` | undefined {
  return values.flatMap((value) => [value, `-${value}` as const]).find((one) => one === sort);
}

/** The rows of all pages. What has moved to a later page since an earlier one was read stands once. */
export function rowsOf<Row>(pages: readonly (readonly Row[])[] | undefined, keyOf: (row: Row) => string): Row[] {
  return [...new Map((pages ?? []).flat().map((row) => [keyOf(row), row])).values()];
}
