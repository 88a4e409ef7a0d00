import { useCallback, useEffect, useRef, useState } from "react";
import { openSession } from "../ad-service-client.ts";
import type { EarlyStart } from "../early-start.ts";
import type { Launch } from "../telegram/launch.ts";
import { createVideo } from "./create-video.ts";
import { describeOpening, type Opened } from "./describe-opening.ts";
import type { Session } from "./watching.ts";

export type Opening =
  | { readonly phase: "opening" }
  | { readonly phase: "unreachable" }
  | { readonly phase: "unplayable" }
  | { readonly phase: "watch"; readonly session: Session; readonly video: HTMLVideoElement }
  | Exclude<Opened, { phase: "watch" }>;

/** The user sees that it does not work only after these, while it goes on by itself. */
const QUIET_FAILURES = 2;
const LONGEST_RETRY_MS = 8000;

interface AdSession {
  opening: Opening;
  reopen: () => void;
  /** A further ad, after the one that the app was opened for. */
  openAnother: () => void;
}

/** Opens the session, adopting the request and the video that began before the app arrived, and opens it again when asked. */
export function useAdSession(early: EarlyStart): AdSession {
  const [opening, setOpening] = useState<Opening>({ phase: "opening" });
  const [attempt, setAttempt] = useState(0);
  const [isAnother, setAnother] = useState(false);
  const failures = useRef(0);
  const latestVideo = useRef<HTMLVideoElement | undefined>(undefined);

  const reopen = useCallback(() => {
    setOpening({ phase: "opening" });
    setAttempt((count) => count + 1);
  }, []);

  const openAnother = useCallback(() => {
    setAnother(true);
    reopen();
  }, [reopen]);

  useEffect(() => {
    const isCurrent = new AbortController();
    const tryAgain = () => isCurrent.signal.aborted || setAttempt((count) => count + 1);
    const answering = attempt === 0 && early.opening ? early.opening : open(early.launch, isAnother);
    answering?.then((answer) => {
      if (isCurrent.signal.aborted) return;
      if (answer.outcome === "unreachable") {
        setTimeout(tryAgain, Math.max(Math.min(1000 * 2 ** failures.current, LONGEST_RETRY_MS), answer.retryAfterMs));
        window.addEventListener("online", tryAgain, { signal: isCurrent.signal });
        failures.current++;
        if (failures.current > QUIET_FAILURES || !navigator.onLine) setOpening({ phase: "unreachable" });
        return;
      }
      failures.current = 0;
      const opened = describeOpening(answer, Date.now());
      if (opened.phase !== "watch") return setOpening(opened);
      const video = adopt(opened.session.ad, latestVideo.current ?? early.video);
      latestVideo.current = video;
      if (video.canPlayType(opened.session.ad.media_type) === "") return setOpening({ phase: "unplayable" });
      setOpening({ ...opened, video });
    });
    return () => isCurrent.abort();
  }, [early, attempt, isAnother]);

  return { opening, reopen, openAnother };
}

function open({ botId, initData, code }: Launch, another: boolean): ReturnType<typeof openSession> | undefined {
  const request = another ? { another } : code && { code };
  return botId && initData ? openSession({ bot_id: botId, init_data: initData, ...request }) : undefined;
}

/** The element that loads already, maybe a lighter file by now, unless another ad was chosen meanwhile. */
function adopt(ad: Session["ad"], video: HTMLVideoElement | undefined): HTMLVideoElement {
  const files = [ad.media_url, ...(ad.lighter_media ?? []).map(({ url }) => url)];
  return video && files.some((file) => new URL(file, location.href).href === video.src) ? video : createVideo(ad);
}
