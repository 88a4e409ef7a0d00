import type { OpenSessionResponse } from "@intermission/ad-core/player-api";
import type { Answer } from "../ad-service-client.ts";
import type { WaitNews } from "../telegram/host-news.ts";
import type { Session } from "./watching.ts";

export type WaitReason = WaitNews;

/** The outcome of requesting an ad from the ad service. */
export type Opened =
  | { readonly phase: "watch"; readonly session: Session }
  /** The ad was already watched; opening it again closed it, and only the state of its reward is shown. */
  | { readonly phase: "closed"; readonly session: Session }
  /** `untilMs` is a time of this device's clock. */
  | { readonly phase: "wait"; readonly reason: WaitReason; readonly untilMs: number }
  | { readonly phase: "refused"; readonly code: string; readonly requestId: string | null; readonly botLink?: string };

/** Prevents a tight retry loop when the wait has just ended. */
const MIN_WAIT_MS = 1000;

function isClosed(state: Session["state"]): boolean {
  return state === "rewarded" || state === "watched";
}

/** Computes waits from the service's clock, so a wrong device clock does not matter. */
export function describeOpening(
  answer: Exclude<Answer<OpenSessionResponse>, { outcome: "unreachable" }>,
  nowMs: number,
): Opened {
  if (answer.outcome === "refused") {
    const { code, requestId, botLink } = answer;
    return { phase: "refused", code, requestId, ...(botLink && { botLink }) };
  }
  const { body } = answer;
  if (body.outcome === "session") return { phase: isClosed(body.state) ? "closed" : "watch", session: body };
  const wait = (reason: WaitReason, waitMs: number): Opened => ({
    phase: "wait",
    reason,
    untilMs: nowMs + Math.max(waitMs, MIN_WAIT_MS),
  });
  if (body.outcome === "no-ad") return wait("no-ad", body.retry_after_seconds * 1000);
  return wait(body.reason, Date.parse(body.available_at) - Date.parse(body.server_time));
}
