import { useEffect, useState, useSyncExternalStore } from "react";
import type { Host } from "../telegram/host.ts";
import { type Session, Watching, type WatchingSnapshot } from "./watching.ts";

/** One `Watching` for as long as the component stands; give the component a key of the session's token. */
export function useWatching(session: Session, video: HTMLVideoElement, host: Host): [Watching, WatchingSnapshot] {
  const [watching] = useState(() => new Watching(session, video, host));
  useEffect(() => () => watching.destroy(), [watching]);
  return [watching, useSyncExternalStore(watching.subscribe, watching.getSnapshot)];
}
