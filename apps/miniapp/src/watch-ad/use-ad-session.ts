import type { OpenSessionResponse } from "@intermission/ad-core/player-api";
import { useCallback, useEffect, useRef, useState } from "react";
import { type Answer, openSession } from "../ad-service-client.ts";
import type { EarlyStart } from "../early-start.ts";
import { createVideo } from "./create-video.ts";
import type { Session } from "./watching.ts";

export type WaitReason = "no-ad" | "cooldown" | "daily-cap";

/** What came of opening the ad. Times of the service are told as moments of this device's clock. */
export type Opening =
  | { readonly phase: "opening" }
  | { readonly phase: "watch"; readonly session: Session; readonly video: HTMLVideoElement }
  | { readonly phase: "rewarded"; readonly session: Session }
  | {
      readonly phase: "wait";
      readonly reason: WaitReason;
      readonly untilMs: number;
      readonly botLink: string | undefined;
    }
  | { readonly phase: "refused"; readonly code: string }
  | { readonly phase: "unreachable" };

const RETRY_DELAYS_MS = [1000, 2000, 4000, 8000];
/** Then the user sees that it does not work, while it goes on. */
const QUIET_FAILURES = 2;

/** Opens the session, adopting the request and the video that began before the app arrived, and opens it again when asked. */
export function useAdSession(early: EarlyStart): { opening: Opening; reopen: () => void } {
  const [opening, setOpening] = useState<Opening>({ phase: "opening" });
  const [attempt, setAttempt] = useState(0);
  const failures = useRef(0);
  const video = useRef<HTMLVideoElement | undefined>(undefined);

  const reopen = useCallback(() => {
    setOpening({ phase: "opening" });
    setAttempt((count) => count + 1);
  }, []);

  useEffect(() => {
    const { botId, initData, code } = early.launch;
    if (!botId || !initData) return;
    let isCurrent = true;
    let retry: ReturnType<typeof setTimeout> | undefined;
    const request = { bot_id: botId, init_data: initData, ...(code && { code }) };
    const answering = (attempt === 0 && early.opening) || openSession(request);
    answering.then((answer) => {
      if (!isCurrent) return;
      if (answer.outcome !== "unreachable") {
        failures.current = 0;
        setOpening(
          describe(answer, (ad) => {
            video.current = adopt(ad, video.current ?? early.video);
            return video.current;
          }),
        );
        return;
      }
      const delayMs = RETRY_DELAYS_MS[Math.min(failures.current, RETRY_DELAYS_MS.length - 1)] ?? 8000;
      failures.current++;
      if (failures.current > QUIET_FAILURES || !navigator.onLine) setOpening({ phase: "unreachable" });
      retry = setTimeout(() => setAttempt((count) => count + 1), Math.max(delayMs, answer.retryAfterMs));
    });
    const onOnline = () => retry && setAttempt((count) => count + 1);
    window.addEventListener("online", onOnline);
    return () => {
      isCurrent = false;
      clearTimeout(retry);
      window.removeEventListener("online", onOnline);
    };
  }, [early, attempt]);

  return { opening, reopen };
}

function describe(
  answer: Exclude<Answer<OpenSessionResponse>, { outcome: "unreachable" }>,
  videoOf: (ad: Session["ad"]) => HTMLVideoElement,
): Opening {
  if (answer.outcome === "refused") return { phase: "refused", code: answer.code };
  const { body } = answer;
  if (body.outcome === "session") {
    return body.state === "rewarded"
      ? { phase: "rewarded", session: body }
      : { phase: "watch", session: body, video: videoOf(body.ad) };
  }
  const aheadMs = Date.now() - Date.parse(body.server_time);
  const botLink = body.bot.link;
  if (body.outcome === "no-ad") {
    return { phase: "wait", reason: "no-ad", untilMs: Date.now() + body.retry_after_seconds * 1000, botLink };
  }
  return { phase: "wait", reason: body.reason, untilMs: Date.parse(body.available_at) + aheadMs, botLink };
}

/** The element that loads already, unless another ad was chosen meanwhile. */
function adopt(ad: Session["ad"], video: HTMLVideoElement | undefined): HTMLVideoElement {
  return video?.src === new URL(ad.media_url, location.href).href ? video : createVideo(ad);
}
