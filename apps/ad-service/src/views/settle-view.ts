import type { ViewerLimitReason } from "@intermission/ad-core/wire-fields";
import type { EndedViewState } from "@intermission/operator-api/reviews";
import type { Charge } from "../campaigns/event-worth.ts";
import {
  afterEarning,
  limitOfInterstitials,
  limitOfViewer,
  noUnfinishedViews,
  plausibleTime,
  type UnfinishedViews,
  type ViewerEarnings,
  type ViewerInterstitials,
  type ViewerLimit,
  type ViewerLimitSettings,
} from "../viewers/limit-of-viewer.ts";
import { type AdView, latest } from "./ad-view.ts";
import { takesClock, type ViewChange } from "./view-change.ts";

/** The facts for the decision about the start or the end of a view. */
export interface ViewerFacts extends ViewerEarnings, ViewerLimitSettings, ViewerInterstitials, Charge {
  /** The version of the viewer's row. */
  decisions: number;
  /** The view that holds the viewer's clock. */
  clockHolderId: string | null;
  creditedUntil: Date | null;
  unfinished: UnfinishedViews;
  isBotSuspended: boolean;
  /** The bot asks for the webhook `interstitial`. */
  sendsInterstitials: boolean;
  /** Whether the bot's events contain the page's note. */
  sendsClientNotes: boolean;
}

export type ViewDecision =
  /** It neither starts nor ends. */
  | { outcome: "continues" }
  | { outcome: "starts" }
  /** The interstitial is charged and stays open. */
  | { outcome: "charged" }
  /** Playback may not begin: nothing is stored. */
  | Extract<ViewerLimit, { outcome: "limited" }>
  | { outcome: "bot-suspended" }
  /** It ends: paid, or held or refused as suspicious. It counts towards the viewer's limits. */
  | { outcome: EndedViewState }
  /** The viewer's limit ends only after its deadline, and the viewer was not told that the view is watched. */
  | { outcome: "refused-by-limit"; reason: ViewerLimitReason }
  /** Its close waits for the viewer's limit to end. */
  | { outcome: "deferred"; reason: ViewerLimitReason; until: Date };

const outcomeOfFate = { pay: "rewarded", hold: "held", refuse: "refused" } as const;

/**
 * Decides what a change does to its view. The start of a view is judged beside the viewer's other views, which may earn before
 * it; its end is not, since the others were judged beside it. A view that was stored as watched has been shown as earned: its
 * close waits for the limit, however long. A bot that is suspended starts none; its viewers finish what plays already.
 *
 * An interstitial rewards nobody: only its start is limited, by the viewer's last one.
 */
export function settleView(change: ViewChange, facts: ViewerFacts): ViewDecision {
  const { isStart, ending, charge, before, after, now } = change;
  if (!isStart && ending === undefined && charge === undefined) return { outcome: "continues" };
  if (isStart && facts.isBotSuspended) return { outcome: "bot-suspended" };
  const limit = limitOf(after, facts, { isStart, now });
  if (isStart && limit.outcome === "limited") return limit;
  if (ending === undefined) return { outcome: charge ? "charged" : "starts" };
  if (limit.outcome === "free") return { outcome: outcomeOfFate[ending.fate] };
  const { reason, availableAt: until } = limit;
  const isShownAsEarned = before.state === "watched";
  return isShownAsEarned || until <= after.deadline
    ? { outcome: "deferred", reason, until }
    : { outcome: "refused-by-limit", reason };
}

function limitOf(
  { format }: AdView,
  facts: ViewerFacts,
  { isStart, now }: { isStart: boolean; now: Date },
): ViewerLimit {
  if (format === "interstitial") return isStart ? limitOfInterstitials(facts, now) : { outcome: "free" };
  return limitOfViewer(facts, isStart ? facts.unfinished : noUnfinishedViews, facts, now);
}

/** The state of a view that is over by this decision. */
export function endStateOf(decision: ViewDecision): "rewarded" | "held" | "refused" | undefined {
  switch (decision.outcome) {
    case "rewarded":
    case "held":
    case "refused":
      return decision.outcome;
    case "refused-by-limit":
      return "refused";
    case "continues":
    case "starts":
    case "charged":
    case "limited":
    case "bot-suspended":
    case "deferred":
      return undefined;
    default:
      return decision satisfies never;
  }
}

/** The view once the change is stored. */
export function viewAfter(change: ViewChange, decision: ViewDecision): AdView {
  const { before, after, now } = change;
  const stored = {
    ...after,
    version: before.version + 1,
    clockHolderId: takesClock(change) ? after.viewId : after.clockHolderId,
  };
  if (decision.outcome === "deferred") {
    return { ...stored, closeRequestedAt: before.closeRequestedAt ?? now, dueAt: decision.until };
  }
  if (decision.outcome === "charged") return { ...stored, chargedAt: now };
  const state = endStateOf(decision);
  if (state === undefined) return stored;
  const { progress } = stored;
  const refusals =
    decision.outcome === "refused-by-limit" ? { ...progress.refusals, [decision.reason]: 1 } : progress.refusals;
  return { ...stored, state, dueAt: null, progress: { ...progress, refusals } };
}

/** What the decision changes in the viewer's row; undefined fields stay. */
interface ViewerChange {
  /** The next version of the row. */
  decisions?: number;
  earnings?: ReturnType<typeof afterEarning>;
  lastInterstitialAt?: Date;
  /** A view that earns releases the clock, and leaves the time until which it was credited. */
  clock?: { kind: "taken" } | { kind: "released"; creditedUntil: Date | null };
}

export function viewerAfter(change: ViewChange, decision: ViewDecision, facts: ViewerFacts | undefined): ViewerChange {
  const { before, after, now } = change;
  const takes = takesClock(change);
  const taken = takes ? { clock: { kind: "taken" as const } } : {};
  if (facts === undefined) return taken;
  const decisions = facts.decisions + 1;
  const isInterstitial = after.format === "interstitial";
  const begun = change.isStart && isInterstitial ? { lastInterstitialAt: now } : {};
  switch (decision.outcome) {
    case "starts":
    case "charged":
      return { decisions, ...begun, ...taken };
    case "rewarded":
    case "held":
    case "refused": {
      const holdsClock = takes || facts.clockHolderId === before.viewId;
      const creditedUntil = latest(plausibleTime(facts.creditedUntil, now), after.creditedUntil);
      const clock = holdsClock ? { clock: { kind: "released" as const, creditedUntil } } : {};
      return { decisions, ...begun, ...(!isInterstitial && { earnings: afterEarning(facts, now) }), ...clock };
    }
    case "continues":
    case "limited":
    case "bot-suspended":
    case "refused-by-limit":
    case "deferred":
      return taken;
    default:
      return decision satisfies never;
  }
}

/** What the change adds to the figures of its ad, each with a reason where there is one. */
export function milestonesOf(
  { milestones, ending, after }: ViewChange,
  decision: ViewDecision,
): { milestone: string; reason: string }[] {
  const passed = milestones.map((milestone) => ({ milestone, reason: "" }));
  const state = endStateOf(decision);
  if (state === undefined) return passed;
  const closed = [...passed, { milestone: "close", reason: after.closeReason ?? "" }];
  if (state === "rewarded") return closed;
  const reason = decision.outcome === "refused-by-limit" ? decision.reason : (ending?.suspicions ?? []).join(" ");
  return [...closed, { milestone: state, reason }];
}
