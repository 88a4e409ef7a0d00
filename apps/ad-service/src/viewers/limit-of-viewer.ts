/** What a bot's user earned lately, views and direct links together. */
export interface Viewer {
  /** The UTC day that `earnedToday` counts, `YYYY-MM-DD`. */
  day: string;
  earnedToday: number;
  lastEarnedAt: Date | null;
}

/** Views of the same user that began and may still earn. */
export interface UnfinishedViews {
  count: number;
  lastActiveAt: Date | undefined;
  /** When the first of them can earn no more. */
  firstDeadline: Date | undefined;
}

export type ViewerLimit =
  | { outcome: "free" }
  | { outcome: "limited"; reason: "cooldown" | "daily-cap"; availableAt: Date };

const DAY_MS = 86_400_000;

/**
 * Whether a bot's user may begin to earn now. A view under way counts as if it had earned: a user with many codes
 * begins no more views than the cooldown and the cap allow. Asked when an ad is opened, when playback starts and when a
 * link is followed; what is earned in the end passes `admitEarnings`, the same rule in SQL, under the viewer's lock.
 */
export function limitOfViewer(
  viewer: Viewer | undefined,
  limits: { cooldownSeconds: number; dailyCap: number },
  now: Date,
  unfinished: UnfinishedViews = { count: 0, lastActiveAt: undefined, firstDeadline: undefined },
): ViewerLimit {
  const cooldownEnd = Math.max(
    cooldownEndOf(viewer?.lastEarnedAt, limits.cooldownSeconds),
    cooldownEndOf(unfinished.lastActiveAt, limits.cooldownSeconds),
  );
  const today = now.toISOString().slice(0, 10);
  const earnedToday = viewer && viewer.day >= today ? viewer.earnedToday : 0;
  if (earnedToday + unfinished.count >= limits.dailyCap) {
    const tomorrow = (Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS;
    const isUpToUnfinished = earnedToday < limits.dailyCap && unfinished.firstDeadline !== undefined;
    const capEnd = isUpToUnfinished ? Math.min(tomorrow, unfinished.firstDeadline?.getTime() ?? tomorrow) : tomorrow;
    return { outcome: "limited", reason: "daily-cap", availableAt: new Date(Math.max(capEnd, cooldownEnd)) };
  }
  if (cooldownEnd > now.getTime()) {
    return { outcome: "limited", reason: "cooldown", availableAt: new Date(cooldownEnd) };
  }
  return { outcome: "free" };
}

function cooldownEndOf(since: Date | null | undefined, cooldownSeconds: number): number {
  // Without a cooldown what was earned an instant ahead, on another node, is no reason to wait for this clock to catch up.
  if (cooldownSeconds === 0) return Number.NEGATIVE_INFINITY;
  return since ? since.getTime() + cooldownSeconds * 1000 : Number.NEGATIVE_INFINITY;
}
