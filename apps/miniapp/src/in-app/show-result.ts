import type { News, RewardNews, StageNews } from "../telegram/host-news.ts";

/** What `show()` answers: one of a closed list, the same as `ShowResult` of `@intermission/publisher/in-app`. */
export interface ShowResult {
  readonly outcome:
    | "credited"
    | "watched"
    | "skipped"
    | "closed-early"
    | "no-ad"
    | "limited"
    | "refused"
    | "unavailable";
  readonly reason?: string;
  readonly eventId?: string;
  /** RFC 3339, in UTC. */
  readonly availableAt?: string;
  readonly secondsWatched?: number;
}

/** The result after this news. What was credited stays credited, also if another ad follows. */
export function resultAfter(before: ShowResult, news: News): ShowResult {
  if (before.outcome === "credited") return withEvent(before, news);
  switch (news.phase) {
    case "opening":
      return before;
    case "unreachable":
    case "unplayable":
      return { outcome: "unavailable", reason: news.phase };
    case "refused":
      return { outcome: "refused", reason: news.code };
    case "wait": {
      const availableAt = new Date(news.untilMs).toISOString();
      return news.reason === "no-ad"
        ? { outcome: "no-ad", availableAt }
        : { outcome: "limited", reason: news.reason, availableAt };
    }
    case "watch":
      return { outcome: "closed-early", secondsWatched: 0 };
    case "closed":
      return { ...before, outcome: "watched" };
    case "stage":
      return { ...ofStage[news.stage], secondsWatched: Math.floor(news.positionMs / 1000) };
    case "reward":
      return withEvent({ ...before, ...ofReward(news.reward) }, news);
    default:
      return news satisfies never;
  }
}

/** An interstitial that is left is skipped: its screen has no other way out. */
export function resultOfInterstitial(before: ShowResult, news: News): ShowResult {
  const after = resultAfter(before, news);
  return news.phase === "stage" && news.stage === "left" ? { ...after, outcome: "skipped" } : after;
}

/** Whether nothing more is shown of an interstitial. */
export function isOver(news: News): boolean {
  switch (news.phase) {
    case "opening":
    case "watch":
    case "reward":
      return false;
    case "closed":
    case "unreachable":
    case "unplayable":
    case "refused":
    case "wait":
      return true;
    case "stage":
      return !["offer", "playing", "confirming", "watched"].includes(news.stage);
    default:
      return news satisfies never;
  }
}

/** The publisher may say that it has credited the reward before the ad service says by which event. */
function withEvent(result: ShowResult, news: News): ShowResult {
  if (result.eventId !== undefined || news.phase !== "reward" || news.eventId === undefined) return result;
  return { ...result, eventId: news.eventId };
}

const ofStage = {
  offer: { outcome: "closed-early" },
  playing: { outcome: "closed-early" },
  confirming: { outcome: "closed-early" },
  watched: { outcome: "watched" },
  closed: { outcome: "watched" },
  left: { outcome: "closed-early" },
  incomplete: { outcome: "closed-early", reason: "incomplete" },
  limited: { outcome: "limited" },
  over: { outcome: "unavailable", reason: "over" },
  superseded: { outcome: "unavailable", reason: "superseded" },
  broken: { outcome: "unavailable", reason: "broken" },
} satisfies Record<StageNews, ShowResult>;

function ofReward(reward: RewardNews): ShowResult {
  switch (reward) {
    case "credited":
      return { outcome: "credited" };
    case "refused":
    case "view-refused":
      return { outcome: "refused", reason: reward };
    case "checking":
    case "on-its-way":
    case "delayed":
    case "delivered":
    case "undelivered":
    case "held":
    case "not-counted":
      return { outcome: "watched" };
    default:
      return reward satisfies never;
  }
}
