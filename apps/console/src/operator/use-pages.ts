import { useInfiniteQuery } from "@tanstack/react-query";

/**
 * A list that is read page by page. `key` names the list and its filters; `readPage` reads the page after a cursor,
 * which is the `next` of the page before.
 */
export function usePages<Answer extends { next: string | null }>(
  key: readonly unknown[],
  readPage: (cursor: string | undefined, signal: AbortSignal) => Promise<Answer>,
) {
  return useInfiniteQuery({
    queryKey: key,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    getNextPageParam: ({ next }) => next ?? undefined,
  });
}
