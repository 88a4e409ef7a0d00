import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePaused } from "./use-paused.ts";

export interface Offered {
  options: readonly { value: string; text: string }[];
  /** Whether the server has more of them. */
  isMore: boolean;
}

/** So many are offered at once; where there are more, the reader searches. */
export const MAX_OFFERED = 50;

/** What can be chosen: all of them where they are few, otherwise what the server finds by the text. */
export function useOffered(of: string, read: (find: string | undefined, signal: AbortSignal) => Promise<Offered>) {
  const [text, onText] = useState("");
  const find = usePaused(text.trim());
  const first = useQuery({ queryKey: ["offered", of, ""], queryFn: ({ signal }) => read(undefined, signal) });
  const isLong = first.data?.isMore ?? false;
  const isSought = isLong && find !== "";
  const found = useQuery({
    queryKey: ["offered", of, find],
    // Without a text it has the key of the first, and may be read again in its place.
    queryFn: ({ signal }) => read(find === "" ? undefined : find, signal),
    enabled: isSought,
    placeholderData: keepPreviousData,
  });
  return { options: (isSought ? found.data : first.data)?.options ?? [], isLong, onText };
}
