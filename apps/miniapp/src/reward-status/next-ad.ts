import type { StatusResponse } from "@intermission/ad-core/player-api";
import type { Answer } from "../ad-service-client.ts";

/** `untilMs` is a time of this device's clock. */
export type NextAd = { readonly when: "now" } | { readonly when: "later"; readonly untilMs: number };

const NO_AD_RETRY_MS = 60_000;
const MIN_WAIT_MS = 1000;
/** Timers of browsers overflow after 24 days. */
const MAX_WAIT_MS = 86_400_000;

/** What the ad service says about another ad, and when to ask it again. Waits are computed from the service's clock. */
export function describeNextAd(
  answer: Exclude<Answer<StatusResponse>, { outcome: "unreachable" }>,
  nowMs: number,
): { nextAd?: NextAd; askAgainMs: number | false } {
  if (answer.outcome === "refused" || !answer.body.next_ad) return { askAgainMs: false };
  const { next_ad: nextAd, server_time: serverTime } = answer.body;
  if (nextAd.available) return { nextAd: { when: "now" }, askAgainMs: false };
  if (nextAd.available_at === undefined) return { askAgainMs: NO_AD_RETRY_MS };
  const waitMs = Math.max(Date.parse(nextAd.available_at) - Date.parse(serverTime), MIN_WAIT_MS);
  return { nextAd: { when: "later", untilMs: nowMs + waitMs }, askAgainMs: Math.min(waitMs, MAX_WAIT_MS) };
}
