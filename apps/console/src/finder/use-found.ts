import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { usePaused } from "../ui/use-paused.ts";

/** So many objects of a kind are shown: the finder could not hold all. */
export const MAX_FOUND = 20;

/** What the server finds by a text after a pause in the typing; `of` names the kind. */
export function useFound<Found>(
  of: string,
  text: string,
  read: (find: string | undefined, signal: AbortSignal) => Promise<readonly Found[]>,
): readonly Found[] {
  const find = usePaused(text.slice(0, 128));
  const { data } = useQuery({
    queryKey: ["found", of, find],
    queryFn: ({ signal }) => read(find || undefined, signal),
    placeholderData: keepPreviousData,
  });
  return data ?? [];
}

/** What is sought of a text that also has words of an action, as `Shop` of `pause shop`. */
export function objectOf(text: string, action: string): string {
  const ofAction = action.toLowerCase().split(/\s+/);
  const isOfAction = (word: string) => ofAction.some((one) => one.startsWith(word.toLowerCase()));
  return text
    .split(/\s+/)
    .filter((word) => !isOfAction(word))
    .join(" ");
}
