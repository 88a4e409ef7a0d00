import type { ProgressReport, ReportRequest } from "@intermission/ad-core/player-api";
import type { Interaction } from "@intermission/ad-core/wire-fields";
import type { CloseReason } from "@intermission/operator-api/reviews";
import {
  type AcceptedProgress,
  acceptProgress,
  isComplete,
  maxWaitMs,
  milestonesBetween,
  SLACK_MS,
} from "./accept-progress.ts";
import { type AdView, latest, plausibleTimes } from "./ad-view.ts";
import { framesOfCreative } from "./expected-frames.ts";
import { hasNoPicture } from "./judge-picture.ts";
import type { ViewChange } from "./view-change.ts";
import { endingOf, fateOf, silentFrom } from "./view-ending.ts";
import { gatherCall, gatherSignals, noSignals, type ViewingSignals } from "./viewing-signals.ts";
import type { Views } from "./views.ts";

export type Acceptance = Pick<AcceptedProgress, "acceptedMs" | "acknowledged" | "refused" | "tooEarly">;

/** A close may overtake the reports that complete the view: this is the time they have to arrive. */
const CLOSE_WAITS_MS = 30_000;
/** The maximum of one call. */
const MAX_PENDING = 300;

/** What a call of a player says about its view. */
export interface Advance {
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

interface Advanced {
  change: ViewChange;
  accepted: Acceptance;
  /** Its video plays without a picture: the change must not be stored. */
  isBlack: boolean;
}

/** The change that a call makes to a view that is not over. After its deadline a watched view only ends. */
export async function advanceView(views: Views, stored: AdView, call: Advance): Promise<Advanced> {
  if (call.now > stored.deadline) {
    const accepted = afterTheEnd(stored, call.reports);
    return { change: await endingOf(views, stored, { ...call, reason: "deadline" }), accepted, isBlack: false };
  }
  const { now, eventId } = call;
  const { view, startedAt, request, accepted } = judgeReports(plausibleTimes(stored, now), call);
  const isStart = startedAt !== null && view.startedAt === null;
  const { progress, acceptedMs, acknowledged, refused, tooEarly, clockMs, creditedUntil } = accepted;
  const isWatched = view.state === "watched" || accepted.isWatched;
  const state = isWatched ? "watched" : startedAt ? "playing" : "opened";
  const pending =
    state === "playing" ? pendingOf(view, accepted, { ...call, closedAt: request?.requestedAt }) : undefined;
  const isNewlyWatched = state === "watched" && view.state !== "watched";
  const isTimely = request && now.getTime() - request.requestedAt.getTime() <= CLOSE_WAITS_MS;
  const close = call.close || isTimely ? request : undefined;
  // A close that waits for the cooldown, or that ended the credited time, remains requested, however long that takes.
  const kept = isNewlyWatched ? close : request;
  const { signals, isBlack } = await judgeSignals(views, view, accepted, {
    ...call,
    isStart,
    isBeacon: request?.reason === "page-hidden",
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
    dueAt: dueAtOf(view, { isNewlyWatched, settleAt: pending?.settleAt, now }),
  };
  const milestones = milestonesBetween(
    { isStarted: view.startedAt !== null, acceptedMs: view.acceptedMs, isComplete: isAtEnd(view) },
    { isStarted: startedAt !== null, acceptedMs, isComplete: isAtEnd(after) },
    view.durationMs,
  );
  const isCharged = isNewlyWatched && view.format === "interstitial";
  const fate = state === "watched" && (close || isCharged) ? await fateOf(views, after, eventId) : undefined;
  const end = close ? { ending: fate } : { charge: fate?.fate === "pay" ? fate : undefined };
  return {
    change: { before: stored, after, isStart, ...end, milestones, now, interactions: interactionsIn(view, call) },
    accepted: { acceptedMs, acknowledged, refused, tooEarly },
    isBlack,
  };
}

function isAtEnd({ state, format, progress, durationMs }: AdView): boolean {
  return state === "watched" && (format === "rewarded" || isComplete(progress.covered, durationMs));
}

interface Judged {
  view: AdView;
  startedAt: Date | null;
  request: ReturnType<typeof closeOf>;
  accepted: AcceptedProgress;
}

/**
 * A hidden page that comes back withdraws its close, which may have overtaken its calls or fallen behind them. A call shows that
 * the page is back if it plays on, or brings more than could be played until the close.
 */
function judgeReports(view: AdView, call: Advance): Judged {
  const back = withoutHiddenClose(view);
  const judged = judgeReportsOf(call.isPlaying && !call.close ? back : view, call);
  const { tooEarly, refused } = judged.accepted;
  const isMore = tooEarly !== undefined || refused.some(({ reason }) => reason === "after-close");
  return isMore && judged.view !== back ? judgeReportsOf(back, call) : judged;
}

function judgeReportsOf(view: AdView, call: Advance): Judged {
  const { now } = call;
  const startedAt = view.startedAt ?? (call.isStart ? now : null);
  const request = closeOf(view, call);
  const pendingBefore = view.pendingReports ?? [];
  // The view may have been opened again since these reports arrived, with a higher first sequence number.
  const firstSequence = Math.min(view.firstSequence, ...pendingBefore.map(({ sequence }) => sequence));
  const closedAt = request?.requestedAt ?? null;
  const accepted = acceptProgress(
    { ...view, startedAt, closedAt, isClosedForGood: request?.reason === "tap", firstSequence },
    uniqueReports([...pendingBefore, ...call.reports]),
    now,
  );
  return { view, startedAt, request, accepted };
}

/** The view's signals with those of a call, and whether its video plays without a picture. */
async function judgeSignals(
  views: Views,
  view: AdView,
  accepted: AcceptedProgress,
  call: Pick<Advance, "picture" | "now"> & { isStart: boolean; isBeacon: boolean; isComplete: boolean },
): Promise<{ signals: ViewingSignals; isBlack: boolean }> {
  const { picture, isStart, isBeacon, isComplete, now } = call;
  const file = await framesOf(views, view, accepted);
  const signals = gatherCall(gatherSignals(view.signals ?? noSignals, accepted, file, now), {
    claimedBeforeMs: view.acceptedMs,
    claimedMs: accepted.claimedMs,
    durationMs: view.durationMs,
    chargedAfterMs: view.chargedAfterMs,
    now,
    isStart,
    isBeacon,
    isComplete,
  });
  if (view.state === "watched") return { signals, isBlack: false };
  const withEarly = gatherSignals(signals, { settled: accepted.early, claimedMs: 0 }, file, now);
  return { signals, isBlack: hasNoPicture({ picture, isInspected: !view.isVast, signals: withEarly, isComplete }) };
}

/** When the sweeper must process the view: once it is watched and silent, or when the clock allows its pending reports. */
function dueAtOf(view: AdView, after: { isNewlyWatched: boolean; settleAt: Date | undefined; now: Date }): Date | null {
  if (after.isNewlyWatched) return silentFrom(view, after.now);
  return view.state === "watched" ? view.dueAt : (after.settleAt ?? null);
}

/** Undefined where nothing is counted, and for a VAST tag: the service does not see its videos. */
async function framesOf(views: Views, { creativeId, isVast }: AdView, { settled }: AcceptedProgress) {
  const isCounted = settled.some(({ rendered_frames: frames }) => frames !== undefined);
  return isCounted && !isVast ? framesOfCreative(views, creativeId) : undefined;
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

/**
 * An earlier close, which ends the credited time, or this call's. A view that is watched already is credited none. After a
 * closing tap no page comes back.
 */
function closeOf(view: AdView, { close, now }: Advance): { requestedAt: Date; reason: CloseReason } | undefined {
  const earlier = view.startedAt ? closeRequestOf(view) : undefined;
  if (!close) return earlier;
  const reason = earlier?.reason === "tap" ? earlier.reason : close;
  return { requestedAt: view.state === "watched" ? now : (earlier?.requestedAt ?? now), reason };
}

/** The page is back: the time that was not used until it was hidden is credited to no view. */
function withoutHiddenClose(view: AdView): AdView {
  const { closeRequestedAt: closedAt, closeReason, state, pendingReports } = view;
  if (closedAt === null || closeReason !== "page-hidden") return view;
  if (state !== "playing" || pendingReports !== null) return view;
  return { ...view, closeRequestedAt: null, closeReason: null, creditedUntil: latest(view.creditedUntil, closedAt) };
}

function closeRequestOf({ closeRequestedAt, closeReason }: AdView) {
  return closeRequestedAt && closeReason ? { requestedAt: closeRequestedAt, reason: closeReason } : undefined;
}

/** The view is over: nothing can be added, and all reports count as settled. */
export function afterTheEnd(view: AdView, reports: readonly ProgressReport[]) {
  const acknowledged = [...new Set(reports.map(({ sequence }) => sequence))];
  const { acceptedMs, state } = view;
  return { outcome: "recorded" as const, state, acceptedMs, acknowledged, refused: [], tooEarly: undefined };
}

/** Of a VAST ad, whose trackers they call. The pause at the end of the video is none. */
function interactionsIn({ isVast, durationMs }: AdView, { reports }: Advance): Interaction[] {
  if (!isVast) return [];
  return reports.flatMap(({ events = [], to_ms: toMs }) =>
    events.filter((event) => event !== "pause" || toMs < durationMs - LAST_MS),
  );
}

/** All but the last second is watched. */
const LAST_MS = 1000;
