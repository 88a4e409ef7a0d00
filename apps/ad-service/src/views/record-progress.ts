import { setImmediate as nextTurn } from "node:timers/promises";
import type { ViewReview } from "@intermission/ad-core/player-api";
import type { CountedRefusal } from "@intermission/operator-api/timeline";
import { OverloadedError } from "@intermission/postgres/group-commits";
import { statement } from "@intermission/postgres/open-database";
import { inTurn } from "@intermission/server/in-turn";
import type { ViewerLimit } from "../viewers/limit-of-viewer.ts";
import { type AdView, readView } from "./ad-view.ts";
import { type Acceptance, type Advance, advanceView, afterTheEnd } from "./advance-view.ts";
import { isStaleOffer } from "./offer-age.ts";
import { isFailedForGood, recordFault } from "./record-fault.ts";
import { isSessionToken } from "./session-token.ts";
import { isProgressOnly, type ViewChange } from "./view-change.ts";
import { expectedReview } from "./view-ending.ts";
import { inWeekOfView } from "./view-ids.ts";
import { changeView, type Views } from "./views.ts";

interface ProgressCall extends Advance {
  botId: string;
  viewId: string;
  token: string;
}

export type RecordProgressOutcome =
  /** `review`: the end that a watched view will have when it is closed, if that is not its reward. */
  | ({ outcome: "recorded"; state: AdView["state"]; review?: ViewReview | undefined } & Acceptance)
  | { outcome: "unknown" }
  | { outcome: "superseded" }
  | { outcome: "over" }
  /** Playback may not begin: the viewer has earned elsewhere since the ad was opened. Nothing was recorded. */
  | Extract<ViewerLimit, { outcome: "limited" }>;

/** A player that vanishes without a last call loses at most this, and what it had not reported yet. */
const STORE_EVERY_MS = 10_000;
/** Each attempt fails only if another change of the view was stored first. */
const MAX_TRIES = 20;

const countRefusal = statement<never>(
  "views.count-refusal",
  `update views set version = version + 1,
     refusals = jsonb_set(coalesce(refusals, '{}'), array[$3::text], to_jsonb(coalesce((refusals ->> $3)::integer, 0) + 1))
   where bot_id = $1 and view_id = $2 and ${inWeekOfView("$2", "code")}`,
);

/**
 * Records a player's reports: in one statement if this node remembers the view, which it does from its opening on, and in
 * none while playback only continues between two quartiles.
 */
export function recordProgress(views: Views, call: ProgressCall): Promise<RecordProgressOutcome> {
  return inTurn(views.turns, call.viewId, () => tryToRecord(views, call));
}

async function tryToRecord(views: Views, call: ProgressCall): Promise<RecordProgressOutcome> {
  let known = views.remembered.get(call.viewId);
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const view = known ?? (await readView(views.database, call));
    if (!view) return { outcome: "unknown" };
    const refusal = refusalOf(view, call);
    if (refusal) {
      // Nothing is refused on remembered state: another node may have opened the view again since.
      if (!known) return refuse(views, call, refusal);
      known = undefined;
      continue;
    }
    // The next opening has another ad.
    if (call.isStart && (await isStaleOffer(views.database, view, call.now))) return { outcome: "over" };
    const { change, accepted, isBlack } = await advanceView(views, view, call);
    if (isBlack) {
      await recordFault(views.database, { ...call, fault: "not-displayed" });
      return { outcome: "over" };
    }
    if (call.isPlaying && mayWait(change, accepted)) {
      // Answered together with the other calls of this turn, like stored reports: waking the network for each costs more.
      await nextTurn();
      return { outcome: "recorded", state: view.state, ...accepted, acknowledged: [] };
    }
    const changed = await changeView(views, change);
    if (changed.outcome === "limited") return changed;
    // The next opening says why.
    if (changed.outcome === "bot-suspended") return { outcome: "over" };
    if (changed.outcome === "stored") {
      const { view: stored } = changed;
      return { outcome: "recorded", state: stored.state, review: await expectedReview(views, stored), ...accepted };
    }
    changed satisfies { outcome: "changed" };
    known = undefined;
  }
  throw new OverloadedError(`a report lost ${MAX_TRIES} races`);
}

/**
 * Whether the reports may stay with the player until its next call: they only continue a view that was stored recently, and
 * reach no quartile. Nothing depends on them then, since the next call is judged on the same stored view, by the same clock.
 */
function mayWait(change: ViewChange, { refused, tooEarly }: Acceptance): boolean {
  const { before, after, milestones, interactions, now } = change;
  const isDue =
    milestones.length > 0 ||
    (interactions?.length ?? 0) > 0 ||
    now.getTime() - (before.lastReportAt?.getTime() ?? 0) >= STORE_EVERY_MS;
  return !isDue && after.state === "playing" && isProgressOnly(change) && refused.length === 0 && !tooEarly;
}

/** The response to a call that does not change the view. */
function refusalOf(view: AdView, call: ProgressCall): RecordProgressOutcome | undefined {
  if (!isSessionToken(call.token, view.tokenHash)) return { outcome: view.openings > 1 ? "superseded" : "unknown" };
  if (isOver(view)) return afterTheEnd(view, call.reports);
  if (isFailedForGood(view, call.now)) return { outcome: "over" };
  return call.now > view.deadline && view.state !== "watched" ? { outcome: "over" } : undefined;
}

/** The reason for which a view counts a refused call; undefined: the call is answered, and not counted. */
const countedAs = {
  superseded: "superseded",
  unknown: "wrong-token",
  recorded: undefined,
  over: undefined,
  limited: undefined,
} satisfies Record<RecordProgressOutcome["outcome"], CountedRefusal | undefined>;

async function refuse(
  { database }: Views,
  { botId, viewId }: ProgressCall,
  refusal: RecordProgressOutcome,
): Promise<RecordProgressOutcome> {
  const reason = countedAs[refusal.outcome];
  if (reason !== undefined) await database.run(countRefusal, [botId, viewId, reason]);
  return refusal;
}

/**
 * Settles reports that arrived too early and that the clock allows now: `view` is playing, its pending reports are due. If
 * another change was stored first, that change has settled them, or the sweeper tries again.
 */
export async function settlePendingReports(
  views: Views,
  view: AdView,
  { eventId, now }: { eventId: string; now: Date },
): Promise<void> {
  if (isFailedForGood(view, now)) {
    const after = { ...view, pendingReports: null, dueAt: null };
    await changeView(views, { before: view, after, isStart: false, milestones: [], now });
    return;
  }
  // After the deadline nothing is accepted, but these arrived before it, however late the sweeper is.
  const isLate = now > view.deadline;
  const call = { reports: [], isStart: false, close: undefined, eventId, now: isLate ? view.deadline : now };
  // Whether these reports show a picture was judged when they arrived.
  const { change } = await advanceView(views, view, call);
  // The limits of the viewer are judged by the time of the next sweep, which ends a view that is watched now.
  await changeView(views, isLate ? { ...change, ending: undefined } : change);
}

function isOver({ state }: AdView): boolean {
  return state === "rewarded" || state === "held" || state === "refused";
}
