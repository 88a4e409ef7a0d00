import { useSyncExternalStore } from "react";
import { z } from "zod";
import { jsonIn } from "../operator/call-operator.ts";

/** By the name of a list, the ids of the columns that are hidden: a column of a later version is shown. */
const kept = z.record(z.string(), z.array(z.string()));
const KEY = "console-columns";
const none: readonly string[] = [];
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Another window of this browser has changed them.
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}

/** The columns of a list that the reader has hidden, which this browser remembers. */
export function useHiddenColumns(list: string): [hidden: readonly string[], hide: (ids: readonly string[]) => void] {
  const text = useSyncExternalStore(subscribe, () => localStorage.getItem(KEY) ?? "");
  const lists = kept.safeParse(jsonIn(text)).data ?? {};
  const hide = (ids: readonly string[]) => {
    localStorage.setItem(KEY, JSON.stringify({ ...lists, [list]: ids }));
    for (const listener of listeners) listener();
  };
  return [lists[list] ?? none, hide];
}
