import { useEffect } from "react";
import type { Host } from "./host.ts";
import type { News } from "./host-news.ts";

declare global {
  interface ImportMetaEnv {
    /** Set in the build of the frame alone: what depends on it is not in the mini-app, whose users would load it for nothing. */
    readonly IN_APP?: true;
  }
}

/** Tells the page around the frame what the app shows now. It is called in the build of the frame alone. */
export function useNews(host: Host, news: News): void {
  useEffect(() => host.onNews?.(news), [host, news]);
}
