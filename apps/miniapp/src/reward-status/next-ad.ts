import type { StatusResponse } from "@intermission/ad-core/player-api";
import type { Answer } from "../ad-service-client.ts";

type NextMedia = NonNullable<NonNullable<StatusResponse["next_ad"]>["media"]>;

export type NextAd =
  | {
      readonly when: "now";
      /** Which of the day's ads it is, where the bot's cap is small enough to count. */
      readonly ofToday?: { readonly number: number; readonly cap: number };
      /** The video to load while the reward is shown. */
      readonly media?: NextMedia | undefined;
    }
  /** `untilMs` is a time of this device's clock. `isDayOver`: the day's ads are used up. */
  | { readonly when: "later"; readonly untilMs: number; readonly isDayOver: boolean };

/** "2 of 1,000 today" says nothing. */
const MAX_COUNTED_CAP = 50;
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
  const { today, media } = nextAd;
  if (nextAd.available) {
    const ofToday = today && today.daily_cap <= MAX_COUNTED_CAP && { number: today.earned + 1, cap: today.daily_cap };
    return { nextAd: { when: "now", ...(ofToday && { ofToday }), media }, askAgainMs: false };
  }
  if (nextAd.available_at === undefined) return { askAgainMs: NO_AD_RETRY_MS };
  const waitMs = Math.max(Date.parse(nextAd.available_at) - Date.parse(serverTime), MIN_WAIT_MS);
  const isDayOver = nextAd.reason === "daily-cap";
  return { nextAd: { when: "later", untilMs: nowMs + waitMs, isDayOver }, askAgainMs: Math.min(waitMs, MAX_WAIT_MS) };
}
