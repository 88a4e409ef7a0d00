import { setImmediate as nextTurn } from "node:timers/promises";
import type { ProgressReport, ReportRequest, ViewReview } from "@intermission/ad-core/player-api";
import { OverloadedError } from "@intermission/postgres/group-commits";
import { statement } from "@intermission/postgres/open-database";
import { inTurn } from "@intermission/server/in-turn";
import { currentTraceparent } from "@intermission/server/trace-context";
import type { ViewerLimit } from "../ad-selection/limit-of-viewer.ts";
import { findBot } from "../bots/bots.ts";
import { inWeekOfView } from "../codes/view-ids.ts";
import {
  type AcceptedProgress,
  acceptProgress,
  maxWaitMs,
  milestonesBetween,
  reportedReturn,
  reportedStart,
  SLACK_MS,
} from "./accept-progress.ts";
import { type AdView, type CloseReason, latest, plausibleTimes, readView } from "./ad-view.ts";
import { framesOfCreative } from "./expected-frames.ts";
import { hasNoPicture } from "./judge-picture.ts";
import { isFailedForGood, recordFault } from "./record-fault.ts";
import { isSessionToken } from "./session-token.ts";
import { isProgressOnly, type ViewChange, type ViewEnding } from "./view-change.ts";
import { gatherCall, gatherSignals, noSignals, suspicionsOf } from "./viewing-signals.ts";
import { changeView, type Views } from "./views.ts";

export interface ProgressCall {
  botId: string;
  viewId: string;
  token: string;
  reports: readonly ProgressReport[];
  /** Playback began: records the start time, once. */
  isStart: boolean;
  close: "tap" | "page-hidden" | undefined;
  /** The video plays on: the player sends what is not acknowledged with its next call. */
  isPlaying?: boolean;
  /** The size of the picture that the player shows. */
  picture?: ReportRequest["picture"];
  /** The id of the event, if this call earns it. */
  eventId: string;
  now: Date;
}

export type RecordProgressOutcome =
  /** `review`: the end that a watched view will have when it is closed, if that is not its reward. */
  | ({ outcome: "recorded"; state: AdView["state"]; review?: ViewReview | undefined } & Acceptance)
  | { outcome: "unknown" }
  | { outcome: "superseded" }
  | { outcome: "over" }
  /** Playback may not begin: the viewer has earned elsewhere since the ad was opened. Nothing was recorded. */
  | Extract<ViewerLimit, { outcome: "limited" }>;

type Acceptance = Pick<AcceptedProgress, "acceptedMs" | "acknowledged" | "refused" | "tooEarly">;

/** A close may overtake the reports that complete the view: this is the time they have to arrive. */
const CLOSE_WAITS_MS = 30_000;
/** A watched video sends a heartbeat every 5 s: three missed ones mean that the page is gone. */
export const SILENCE_MS = 15_000;

/** When a watched view is closed if no further heartbeat arrives. */
export function silentFrom({ deadline }: AdView, lastReportAt: Date): Date {
  return new Date(1 + Math.min(lastReportAt.getTime() + SILENCE_MS, deadline.getTime()));
}
/** A player that vanishes without a last call loses at most this, and what it had not reported yet. */
const STORE_EVERY_MS = 10_000;
/** The maximum of one call. */
const MAX_PENDING = 300;
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
    const { change, accepted, isBlack } = await advance(views, view, call);
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
  const { before, after, milestones, now } = change;
  const isDue = milestones.length > 0 || now.getTime() - (before.lastReportAt?.getTime() ?? 0) >= STORE_EVERY_MS;
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
} satisfies Record<RecordProgressOutcome["outcome"], string | undefined>;

async function refuse(
  { database }: Views,
  { botId, viewId }: ProgressCall,
  refusal: RecordProgressOutcome,
): Promise<RecordProgressOutcome> {
  const reason = countedAs[refusal.outcome];
  if (reason !== undefined) await database.run(countRefusal, [botId, viewId, reason]);
  return refusal;
}

type Advance = Pick<ProgressCall, "reports" | "isStart" | "close" | "isPlaying" | "picture" | "eventId" | "now">;

interface Advanced {
  change: ViewChange;
  accepted: Acceptance;
  /** Its video plays without a picture: the change must not be stored. */
  isBlack: boolean;
}

/** The change that a call makes to a view that is not over. After its deadline a watched view only ends. */
async function advance(views: Views, stored: AdView, call: Advance): Promise<Advanced> {
  if (call.now > stored.deadline) {
    const accepted = afterTheEnd(stored, call.reports);
    return { change: await endingOf(views, stored, { ...call, reason: "deadline" }), accepted, isBlack: false };
  }
  const { now, eventId } = call;
  const view = returned(plausibleTimes(stored, now), call);
  const isStart = call.isStart && view.startedAt === null;
  const startedAt = view.startedAt ?? (isStart ? reportedStart(view, call.reports, now) : null);
  const pendingBefore = view.pendingReports ?? [];
  // The view may have been opened again since these reports arrived, with a higher first sequence number.
  const firstSequence = Math.min(view.firstSequence, ...pendingBefore.map(({ sequence }) => sequence));
  const request = closeOf(view, call);
  const accepted = acceptProgress(
    { ...view, startedAt, closedAt: request?.requestedAt ?? null, firstSequence },
    uniqueReports([...pendingBefore, ...call.reports]),
    now,
  );
  const { progress, acceptedMs, acknowledged, refused, tooEarly, clockMs, creditedUntil } = accepted;
  const state = view.state === "watched" || accepted.isWatched ? "watched" : startedAt ? "playing" : "opened";
  const pending =
    state === "playing" ? pendingOf(view, accepted, { ...call, closedAt: request?.requestedAt }) : undefined;
  const isNewlyWatched = state === "watched" && view.state !== "watched";
  const isTimely = request && now.getTime() - request.requestedAt.getTime() <= CLOSE_WAITS_MS;
  const close = call.close || isTimely ? request : undefined;
  // A close that waits for the cooldown remains requested, however long that takes; so does one that ends the credited time.
  const kept = isNewlyWatched ? close : request;
  const file = await framesOf(views, view, accepted);
  const gathered = gatherSignals(view.signals ?? noSignals, accepted, file, now);
  const signals = gatherCall(gathered, {
    claimedBeforeMs: view.acceptedMs,
    claimedMs: accepted.claimedMs,
    durationMs: view.durationMs,
    now,
    isStart,
    isBeacon: request?.reason === "page-hidden",
    isComplete: isNewlyWatched || pending !== undefined,
  });
  const isBlack =
    view.state !== "watched" &&
    hasNoPicture({
      picture: call.picture,
      isInspected: !view.isVast,
      signals: gatherSignals(signals, { settled: accepted.early, claimedMs: 0 }, file, now),
      isComplete: isNewlyWatched || pending !== undefined,
    });
  const after: AdView = {
    ...view,
    state,
    startedAt,
    progress,
    acceptedMs,
    clockMs,
    creditedUntil,
    lastReportAt: now,
    watchedAt: view.watchedAt ?? (state === "watched" ? now : null),
    closeRequestedAt: kept?.requestedAt ?? null,
    closeReason: kept?.reason ?? null,
    signals,
    pendingReports: pending?.reports ?? null,
    dueAt: state === "watched" ? (isNewlyWatched ? silentFrom(view, now) : view.dueAt) : (pending?.settleAt ?? null),
  };
  const milestones = milestonesBetween(
    { isStarted: view.startedAt !== null, acceptedMs: view.acceptedMs, isWatched: view.state === "watched" },
    { isStarted: startedAt !== null, acceptedMs, isWatched: state === "watched" },
    view.durationMs,
  );
  const ending = state === "watched" && close ? await fateOf(views, after, eventId) : undefined;
  return {
    change: { before: stored, after, isStart, ending, milestones, now },
    accepted: { acceptedMs, acknowledged, refused, tooEarly },
    isBlack,
  };
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
  const { change } = await advance(views, view, call);
  // The limits of the viewer are judged by the time of the next sweep, which ends a view that is watched now.
  await changeView(views, isLate ? { ...change, ending: undefined } : change);
}

/** The end of a watched view: it is paid, held or refused, or waits for the cooldown. */
export async function endingOf(
  views: Views,
  view: AdView,
  { reason, eventId, now }: { reason: CloseReason; eventId: string; now: Date },
): Promise<ViewChange> {
  const after = { ...view, closeReason: reason };
  return {
    before: view,
    after,
    isStart: false,
    milestones: [],
    now,
    ending: await fateOf(views, after, eventId),
  };
}

/** A suspicious view is paid, held or refused, by its bot's setting. A tester's view is free of charge and always paid. */
async function fateOf(views: Views, view: AdView, eventId: string): Promise<ViewEnding> {
  const signals = view.signals ?? noSignals;
  const isCounted = signals.countedMs > 0 && !view.isVast;
  const suspicions = suspicionsOf(signals, isCounted ? await framesOfCreative(views, view.creativeId) : undefined);
  const isJudged = suspicions.length > 0 && !view.isTest;
  const fate = isJudged ? ((await findBot(views.bots, view.botId))?.suspiciousViews ?? "pay") : "pay";
  return { fate, suspicions, eventId, traceparent: currentTraceparent() };
}

const reviewOfFate = { pay: undefined, hold: "held", refuse: "refused" } as const;

/** So that a player promises no reward for a view that looks suspicious. */
async function expectedReview(views: Views, view: AdView): Promise<ViewReview | undefined> {
  return view.state === "watched" ? reviewOfFate[(await fateOf(views, view, "")).fate] : undefined;
}

/** Undefined where nothing is counted, and for a VAST tag: the service does not see its videos. */
async function framesOf(views: Views, { creativeId, isVast }: AdView, { settled }: AcceptedProgress) {
  const isCounted = settled.some(({ rendered_frames: frames }) => frames !== undefined);
  return isCounted && !isVast ? framesOfCreative(views, creativeId) : undefined;
}

function isOver({ state }: AdView): boolean {
  return state === "rewarded" || state === "held" || state === "refused";
}

function uniqueReports(reports: readonly ProgressReport[]): ProgressReport[] {
  return [...new Map(reports.map((report) => [report.sequence, report])).values()];
}

/**
 * A closing page cannot resend reports that arrived too early because its start arrived late. They are kept if they would complete
 * the view as soon as the clock allows for that delay, and claim no more than the time since the ad was opened.
 */
function pendingOf(
  view: AdView,
  accepted: AcceptedProgress,
  { now, closedAt = now }: { now: Date; closedAt?: Date | undefined },
) {
  const { early, earlyMs, isClaimedWatched, claimedMs } = accepted;
  const sinceOpenedMs = now.getTime() - view.openedAt.getTime() + SLACK_MS;
  if (!isClaimedWatched || early.length > MAX_PENDING || claimedMs > sinceOpenedMs) return undefined;
  const settleAt = new Date(now.getTime() + earlyMs);
  const isTooLate = settleAt.getTime() - closedAt.getTime() > maxWaitMs(view.durationMs);
  return isTooLate || settleAt > view.deadline ? undefined : { reports: early, settleAt };
}

/** An earlier close, which ends the credited time, or this call's. A view that is watched already is credited none. */
function closeOf(view: AdView, { close, now }: Advance): { requestedAt: Date; reason: CloseReason } | undefined {
  const earlier = view.startedAt ? closeRequestOf(view) : undefined;
  if (!close) return earlier;
  return { requestedAt: view.state === "watched" ? now : (earlier?.requestedAt ?? now), reason: close };
}

/** A hidden page that comes back plays on: its close is withdrawn, and the time between them is credited to no view. */
function returned(view: AdView, { isPlaying, close, reports, now }: Advance): AdView {
  const { closeRequestedAt: closedAt, closeReason, state, pendingReports } = view;
  if (!isPlaying || close || closedAt === null || closeReason !== "page-hidden") return view;
  if (state !== "playing" || pendingReports !== null) return view;
  const creditedUntil = latest(view.creditedUntil, reportedReturn({ ...view, closedAt }, reports, now));
  return { ...view, closeRequestedAt: null, closeReason: null, creditedUntil };
}

function closeRequestOf({ closeRequestedAt, closeReason }: AdView) {
  return closeRequestedAt && closeReason ? { requestedAt: closeRequestedAt, reason: closeReason } : undefined;
}

/** The view is over: nothing can be added, and all reports count as settled. */
function afterTheEnd(view: AdView, reports: readonly ProgressReport[]) {
  const acknowledged = [...new Set(reports.map(({ sequence }) => sequence))];
  const { acceptedMs, state } = view;
  return { outcome: "recorded" as const, state, acceptedMs, acknowledged, refused: [], tooEarly: undefined };
}
