import { useEffect, useState } from "react";
import { useTranslator } from "../locales/use-translator.tsx";
import { Notice } from "../ui/notice.tsx";
import type { Session } from "../watch-ad/watching.ts";
import type { RewardStatusProps } from "./reward-status.tsx";

type RewardStatusModule = typeof import("./reward-status.tsx");

const PAUSE_MS = 2000;

let loaded: RewardStatusModule | undefined;

/** Loads the status screen's chunk, which comes after the video. Retries, so that a lost connection only delays it. */
async function loadRewardStatus(): Promise<RewardStatusModule> {
  for (;;) {
    try {
      loaded = await import("./reward-status.tsx");
      return loaded;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

/** Loads the chunk as soon as the video can play, and signs in to the publisher's API while it plays. */
export function usePreparedStatus(
  watched: { session: Session; video: HTMLVideoElement } | null,
  initData: string,
): void {
  const { session, video } = watched ?? {};
  useEffect(() => {
    if (!session || !video) return;
    const stop = new AbortController();
    const once = { once: true, signal: stop.signal };
    // The early start's video may have been ready before this effect.
    if (video.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA) loadRewardStatus();
    else video.addEventListener("canplay", () => loadRewardStatus(), once);
    const prepare = async () => (await loadRewardStatus()).prepareRewardStatus(session, initData);
    video.addEventListener("playing", prepare, once);
    return () => stop.abort();
  }, [session, video, initData]);
}

/**
 * The state of the reward. Not `React.lazy`: React shows a Suspense fallback for at least 300 ms, even if the chunk is loaded.
 */
export function StatusScreen(props: RewardStatusProps) {
  const { text } = useTranslator();
  const [status, setStatus] = useState(loaded);
  useEffect(() => {
    if (!status) loadRewardStatus().then(setStatus);
  }, [status]);
  if (status) return <status.RewardStatus {...props} />;
  return (
    <Notice isLive state="status-checking" icon="spinner" title={text("checking.title")}>
      <p className="secondary">{text("checking.text")}</p>
    </Notice>
  );
}
