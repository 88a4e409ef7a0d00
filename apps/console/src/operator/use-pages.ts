import { useInfiniteQuery } from "@tanstack/react-query";

/**
 * A list that is read page by page. `key` names the list and its filters; `read` asks for the page after `before`, the
 * answer's `next`.
 */
export function usePages<Answer extends { next: string | null }>(
  key: readonly unknown[],
  read: (before: string | undefined, signal: AbortSignal) => Promise<Answer>,
) {
  return useInfiniteQuery({
    queryKey: key,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    getNextPageParam: ({ next }) => next ?? undefined,
  });
}
