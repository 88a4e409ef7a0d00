import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { Host } from "../telegram/host.ts";
import { type Session, Watching, type WatchingSnapshot } from "./watching.ts";

/** One `Watching` per mounted component; key the component by the session's token. */
export function useWatching(session: Session, video: HTMLVideoElement, host: Host): [Watching, WatchingSnapshot] {
  const [watching] = useState(() => watchingOf(session, video, host));
  const ending = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    clearTimeout(ending.current);
    return () => {
      // Strict mode unmounts each effect once and immediately mounts it again, so destroying waits for a task.
      ending.current = setTimeout(() => watching.destroy());
    };
  }, [watching]);
  return [watching, useSyncExternalStore(watching.subscribe, watching.getSnapshot)];
}

const watchings = new WeakMap<Session, Watching>();

/** Returns one instance per session: strict mode calls twice, but a video must have one player. */
function watchingOf(session: Session, video: HTMLVideoElement, host: Host): Watching {
  const watching = watchings.get(session) ?? new Watching(session, video, host);
  watchings.set(session, watching);
  return watching;
}
