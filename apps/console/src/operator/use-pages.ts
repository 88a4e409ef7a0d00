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
