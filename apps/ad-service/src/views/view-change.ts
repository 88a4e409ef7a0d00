import type { Interaction } from "@intermission/ad-core/wire-fields";
import type { BotSettings } from "@intermission/operator-api/bots";
import type { ViewSuspicion } from "@intermission/operator-api/suspicions";
import type { TrackedEvent } from "../vast/vast-ad.ts";
import type { ViewerLimit } from "../viewers/limit-of-viewer.ts";
import type { Milestone } from "./accept-progress.ts";
import type { AdView } from "./ad-view.ts";

export interface ViewEnding {
  fate: BotSettings["suspiciousViews"];
  suspicions: ViewSuspicion[];
  eventId: string;
  /** The trace of the call that ends the view, which its event keeps; null where nothing is traced. */
  traceparent: string | null;
}

/** The change of a view by a call, an opening or the sweeper. It is stored only if the view is still as it was read. */
export interface ViewChange {
  before: AdView;
  after: AdView;
  /** Playback begins: the viewer's limits are checked. */
  isStart: boolean;
  /** The view was watched and is now closed. */
  ending?: ViewEnding | undefined;
  /** An interstitial was in view for long enough: it is charged now, and may play on. */
  charge?: ViewEnding | undefined;
  milestones: Milestone[];
  now: Date;
  /** What the viewer did with the player, of a VAST ad. */
  interactions?: readonly Interaction[];
}

export type ChangeOutcome =
  /** `limitReason`: the limit that delays its end, or refuses it. */
  | {
      outcome: "stored";
      view: AdView;
      limitReason?: Extract<ViewerLimit, { outcome: "limited" }>["reason"] | null;
    }
  /** Another change was stored first: read the view again. Nothing was stored. */
  | { outcome: "changed" }
  /** Playback may not begin. Nothing was stored. */
  | Extract<ViewerLimit, { outcome: "limited" }>
  | { outcome: "bot-suspended" };

/** Whether the change is only progress, of a view that continues or that was just watched to its end. */
export function isProgressOnly(change: ViewChange): boolean {
  const { before, after, isStart, ending, charge } = change;
  if (isStart || ending !== undefined || charge !== undefined || takesClock(change)) return false;
  if (before.pendingReports !== null || after.pendingReports !== null) return false;
  if (unchangedByProgress.some((field) => before[field] !== after[field])) return false;
  if (before.state === "watched") return after.dueAt !== null && after.dueAt === before.dueAt;
  return before.state === "playing" && before.dueAt === null && (after.dueAt !== null) === (after.state === "watched");
}

const unchangedByProgress = [
  "tokenHash",
  "firstSequence",
  "startedAt",
  "closeRequestedAt",
  "closeReason",
] as const satisfies readonly (keyof AdView)[];

/** Only one view of a viewer is credited time: the one that holds the viewer's clock. True if this change must take it. */
export function takesClock({ before, after, isStart }: ViewChange): boolean {
  return before.clockHolderId !== before.viewId && (isStart || after.clockMs > before.clockMs);
}

/** The VAST events of each milestone. The first frame is the impression; the start is when the server learns of it. */
const trackedEventsOf = {
  // Loaded before it starts; and from now on it fills the window.
  start: ["impression", "billing", "loaded", "start", "playerExpand", "verificationNotExecuted"],
  "first-quartile": ["firstQuartile"],
  midpoint: ["midpoint"],
  "third-quartile": ["thirdQuartile"],
  // The end card follows at once.
  complete: ["complete", "companionView"],
} satisfies Record<Milestone, TrackedEvent[]>;

export function milestoneEvents({ milestones, interactions = [] }: ViewChange): TrackedEvent[] {
  return [...milestones.flatMap((milestone) => trackedEventsOf[milestone]), ...interactions];
}
