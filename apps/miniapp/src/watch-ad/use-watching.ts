import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Host } from "../telegram/host.ts";
import { type Session, Watching, type WatchingSnapshot } from "./watching.ts";

/** One `Watching` for as long as the component stands; give the component a key of the session's token. */
export function useWatching(session: Session, video: HTMLVideoElement, host: Host): [Watching, WatchingSnapshot] {
  const [watching] = useState(() => watchingOf(session, video, host));
  const ending = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    clearTimeout(ending.current);
    return () => {
      // Strict mode takes each effect back once, and makes it again at once: there is nothing to end.
      ending.current = setTimeout(() => watching.destroy());
    };
  }, [watching]);
  return [watching, useSyncExternalStore(watching.subscribe, watching.getSnapshot)];
}

const watchings = new WeakMap<Session, Watching>();

/** The same for the same session: strict mode asks twice, and one video has one player. */
function watchingOf(session: Session, video: HTMLVideoElement, host: Host): Watching {
  const watching = watchings.get(session) ?? new Watching(session, video, host);
  watchings.set(session, watching);
  return watching;
}
