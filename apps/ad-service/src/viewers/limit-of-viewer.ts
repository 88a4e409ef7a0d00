import type { ViewerLimitReason } from "@intermission/ad-core/wire-fields";
/** The single rule for cooldown and daily cap, of one bot's viewers: views, clicks and the availability of ads follow it. */

export type ViewerLimit = { outcome: "free" } | { outcome: "limited"; reason: ViewerLimitReason; availableAt: Date };

/** What a viewer earned from one bot, as stored; all null without a row. */
export interface ViewerEarnings {
  /** The UTC day that `earnedToday` counts, as `YYYY-MM-DD`. */
  day: string | null;
  earnedToday: number | null;
  lastEarnedAt: Date | null;
}

/** The viewer's other views that began and may still earn. They count as if they had earned. */
export interface UnfinishedViews {
  count: number;
  lastActiveAt: Date | null;
  /** When the first of them can no longer earn. */
  firstDeadline: Date | null;
}

/** For the end of a view: its start was judged together with the viewer's other views, so only what was earned matters. */
export const noUnfinishedViews: UnfinishedViews = { count: 0, lastActiveAt: null, firstDeadline: null };

export interface ViewerLimitSettings {
  cooldownSeconds: number;
  dailyCap: number;
}

/** The viewer's latest interstitial with one bot, and the bot's pause between two. */
export interface ViewerInterstitials {
  lastInterstitialAt: Date | null;
  interstitialSeconds: number;
}

const free: ViewerLimit = { outcome: "free" };
const DAY_MS = 86_400_000;
/** Clocks may differ by a minute. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;

/** Whether a viewer may earn at a moment; if not, why and from when. */
export function limitOfViewer(
  viewer: ViewerEarnings,
  unfinished: UnfinishedViews,
  { cooldownSeconds, dailyCap }: ViewerLimitSettings,
  now: Date,
): ViewerLimit {
  const earned = earnedOnDay(viewer, now);
  const last = laterOf(plausibleTime(viewer.lastEarnedAt, now), plausibleTime(unfinished.lastActiveAt, now));
  // Without a cooldown, a time that another node's clock dated ahead does not delay the viewer.
  const cooldownEnd =
    cooldownSeconds > 0 && last !== null ? new Date(last.getTime() + cooldownSeconds * 1000) : undefined;
  if (earned + unfinished.count >= dailyCap) {
    const midnight = (Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS;
    const deadline = earned < dailyCap ? unfinished.firstDeadline?.getTime() : undefined;
    const capEnd = Math.min(midnight, deadline ?? midnight);
    const availableAt = new Date(Math.max(capEnd, cooldownEnd?.getTime() ?? capEnd));
    return { outcome: "limited", reason: "daily-cap", availableAt };
  }
  return cooldownEnd !== undefined && cooldownEnd > now
    ? { outcome: "limited", reason: "cooldown", availableAt: cooldownEnd }
    : free;
}

/** Whether an interstitial may begin. It pays no reward, so cooldown and daily cap do not apply. */
export function limitOfInterstitials(
  { lastInterstitialAt, interstitialSeconds }: ViewerInterstitials,
  now: Date,
): ViewerLimit {
  const last = plausibleTime(lastInterstitialAt, now);
  if (last === null) return free;
  const availableAt = new Date(last.getTime() + interstitialSeconds * 1000);
  return availableAt > now ? { outcome: "limited", reason: "cooldown", availableAt } : free;
}

/** The viewer's row after it has earned once more. */
export function afterEarning(viewer: ViewerEarnings, now: Date) {
  const [stored, today] = [plausibleDay(viewer.day, now), utcDay(now)];
  return {
    day: stored !== null && stored > today ? stored : today,
    earnedToday: earnedOnDay(viewer, now) + 1,
    lastEarnedAt: laterOf(plausibleTime(viewer.lastEarnedAt, now), now) ?? now,
  };
}

/** What counts towards the cap at a moment. A day just ahead counts too: a clock that steps back over midnight does not start a day again. */
export function earnedOnDay({ day, earnedToday }: ViewerEarnings, now: Date): number {
  const stored = plausibleDay(day, now);
  return stored !== null && stored >= utcDay(now) ? (earnedToday ?? 0) : 0;
}

/** Null for a time that a wrong clock stored too far ahead: it would lock the viewer out until then. */
export function plausibleTime(stored: Date | null, now: Date): Date | null {
  return stored !== null && stored.getTime() <= now.getTime() + MAX_CLOCK_DIFFERENCE_MS ? stored : null;
}

function plausibleDay(stored: string | null, now: Date): string | null {
  return stored !== null && stored <= utcDay(new Date(now.getTime() + MAX_CLOCK_DIFFERENCE_MS + DAY_MS))
    ? stored
    : null;
}

function laterOf(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
}

/** As `YYYY-MM-DD`; such texts compare as their days do. */
export function utcDay(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}
