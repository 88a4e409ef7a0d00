import type { ProgressReport } from "@intermission/ad-core/player-api";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { enqueueTrackerCalls } from "../vast/enqueue-tracker-calls.ts";
import type { TrackedEvent } from "../vast/vast-ad.ts";
import { lockViewer } from "../viewers/find-viewer.ts";
import { limitOfViewer, type ViewerLimit } from "../viewers/limit-of-viewer.ts";
import type { Deliveries } from "../webhook-delivery/deliveries.ts";
import { type AcceptedProgress, acceptProgress, SLACK_MS } from "./accept-progress.ts";
import { closeSession } from "./close-session.ts";
import { findUnfinishedViews } from "./find-unfinished-views.ts";
import { type Milestone, milestonesBetween } from "./milestones-between.ts";
import { type AdSession, lockSession } from "./rows.ts";
import type { CloseReason } from "./schema.ts";
import { isSessionToken } from "./session-token.ts";
import { gatherSignals, noSignals } from "./viewing-signals.ts";

export interface ProgressCall {
  botId: string;
  sessionId: string;
  token: string;
  reports: readonly ProgressReport[];
  /** Playback began: stamps the start, once. */
  isStart: boolean;
  close: "tap" | "page-hidden" | undefined;
  /** Of the event, should this call earn it. */
  eventId: string;
  now: Date;
}

export type RecordProgressOutcome =
  | ({ outcome: "recorded"; state: AdSession["state"] } & Pick<
      AcceptedProgress,
      "acceptedMs" | "acknowledged" | "refused" | "tooEarly"
    >)
  | { outcome: "unknown" }
  | { outcome: "superseded" }
  | { outcome: "over" }
  /** Playback may not begin: the viewer earned elsewhere since the ad was opened. Nothing was recorded. */
  | Extract<ViewerLimit, { outcome: "limited" }>;

/** A close may overtake the reports that complete the view: they have this long to arrive, and to fit the clock. */
const CLOSE_WAITS_MS = 30_000;
/** As many as one call carries. */
const MOST_PENDING = 300;

const storeProgress = statement(
  "ad-sessions.store-progress",
  `with stored as (
    update ad_sessions set state = $3, accepted_ms = $4, progress = $5, started_at = $6, last_report_at = $7,
      watched_at = $8, close_requested_at = $9, close_reason = $10, signals = $11, clock_ms = $13,
      pending_reports = $14, settle_at = $15
    where bot_id = $1 and session_id = $2
    returning bot_id, session_id, user_id, campaign_id, creative_id, is_test
  ),
  credited as (
    update viewers set credited_until = $16 from stored
    where viewers.bot_id = stored.bot_id and viewers.user_id = stored.user_id and $16::timestamptz is not null
  )
  insert into ad_milestones (bot_id, session_id, campaign_id, creative_id, milestone, occurred_at)
  select bot_id, session_id, campaign_id, creative_id, milestone, $7 from stored, unnest($12::text[]) as milestone
  where not is_test`,
);

const countRefusal = statement<never>(
  "ad-sessions.count-refusal",
  `update ad_sessions set progress = jsonb_set(progress, array['refusals', $3::text],
     to_jsonb(coalesce((progress -> 'refusals' ->> $3)::integer, 0) + 1))
   where bot_id = $1 and session_id = $2`,
);

export async function recordProgress(
  { database, deliveries }: { database: AdDatabase; deliveries: Deliveries },
  call: ProgressCall,
): Promise<RecordProgressOutcome> {
  const outcome = await database.transaction((tx) => recordUnderLock(tx, call));
  if (outcome.outcome === "recorded" && outcome.state === "rewarded") deliveries.wake();
  return outcome;
}

async function recordUnderLock(tx: AdTransaction, call: ProgressCall): Promise<RecordProgressOutcome> {
  const session = await lockSession(tx, call);
  if (!session) return { outcome: "unknown" };
  if (!isSessionToken(call.token, session.tokenHash)) {
    const isSuperseded = session.openings > 1;
    await tx.run(countRefusal, [call.botId, call.sessionId, isSuperseded ? "superseded" : "wrong-token"]);
    return { outcome: isSuperseded ? "superseded" : "unknown" };
  }
  if (isOver(session)) return afterTheEnd(session, call.reports);
  if (call.now > session.deadline) {
    if (session.state !== "watched") return { outcome: "over" };
    const { eventId, now } = call;
    const state = await closeSession(tx, session, { closeReason: "deadline", eventId, now });
    return afterTheEnd({ ...session, state }, call.reports);
  }
  return advance(tx, session, call);
}

/**
 * Settles what a view claimed too early and the clock allows by now. The caller holds the session's lock and found its
 * `settleAt` over.
 */
export async function settlePendingReports(
  tx: AdTransaction,
  session: AdSession,
  { eventId, now }: { eventId: string; now: Date },
): Promise<void> {
  await advance(tx, session, { reports: [], isStart: false, close: undefined, eventId, now });
}

type Advance = Pick<ProgressCall, "reports" | "isStart" | "close" | "eventId" | "now">;

async function advance(tx: AdTransaction, session: AdSession, call: Advance): Promise<RecordProgressOutcome> {
  const { now, eventId } = call;
  const viewer = await lockViewer(tx, { ...session, now });
  if (call.isStart && session.startedAt === null) {
    const unfinished = await findUnfinishedViews(tx, { ...session, now });
    const limit = limitOfViewer(viewer, viewer, now, unfinished);
    if (limit.outcome === "limited") return limit;
  }
  const startedAt = session.startedAt ?? (call.isStart ? now : null);
  const { creditedUntil } = viewer;
  const pendingBefore = session.pendingReports ?? [];
  // The session may have been opened again since they came, with higher numbers.
  const firstSequence = Math.min(session.firstSequence, ...pendingBefore.map(({ sequence }) => sequence));
  const playback = { ...session, startedAt, creditedUntil, firstSequence };
  const accepted = acceptProgress(playback, uniqueReports([...pendingBefore, ...call.reports]), now);
  const { progress, acceptedMs, acknowledged, refused, tooEarly } = accepted;
  const state = session.state === "watched" || accepted.isWatched ? "watched" : startedAt ? "playing" : "opened";
  const close = closeOf(session, call);
  const pending = state === "playing" ? pendingOf(session, accepted, now) : undefined;
  const settleAt = state === "watched" ? session.settleAt : pending?.settleAt;
  const watchedAt = session.watchedAt ?? (state === "watched" ? now : null);
  const signals = gatherSignals(session.signals ?? noSignals, accepted, now);
  const milestones = milestonesBetween(
    { isStarted: session.startedAt !== null, acceptedMs: session.acceptedMs, isWatched: session.state === "watched" },
    { isStarted: startedAt !== null, acceptedMs, isWatched: state === "watched" },
    session.durationMs,
  );
  const values = [
    session.botId,
    session.sessionId,
    state,
    acceptedMs,
    JSON.stringify(progress),
    startedAt,
    now,
    watchedAt,
  ];
  const closing = [close?.requestedAt ?? null, close?.reason ?? null];
  const clock = [
    accepted.clockMs,
    pending ? JSON.stringify(pending.reports) : null,
    settleAt ?? null,
    accepted.creditedUntil === creditedUntil ? null : accepted.creditedUntil,
  ];
  await tx.run(storeProgress, [...values, ...closing, JSON.stringify(signals), milestones, ...clock]);
  if (session.isVast && !session.isTest) {
    const events = milestones.flatMap((milestone) => trackedEventsOf[milestone]);
    await enqueueTrackerCalls(tx, session, { events, playheadMs: acceptedMs, now });
  }
  const recorded = { outcome: "recorded" as const, acceptedMs, acknowledged, refused, tooEarly };
  if (state !== "watched" || !close) return { ...recorded, state };
  const became = await closeSession(tx, { ...session, signals }, { closeReason: close.reason, eventId, now });
  return { ...recorded, state: became };
}

/** What VAST calls them. An impression is the first frame, and the start is when the server heard of it. */
const trackedEventsOf = {
  start: ["impression", "start", "verificationNotExecuted"],
  "first-quartile": ["firstQuartile"],
  midpoint: ["midpoint"],
  "third-quartile": ["thirdQuartile"],
  complete: ["complete"],
} satisfies Record<Milestone, TrackedEvent[]>;

function isOver({ state }: AdSession): boolean {
  return state === "rewarded" || state === "held" || state === "refused";
}

function uniqueReports(reports: readonly ProgressReport[]): ProgressReport[] {
  return [...new Map(reports.map((report) => [report.sequence, report])).values()];
}

/**
 * A page that is going away cannot send again what came too early: its viewer was credited later than the video began to
 * play. Kept is what would complete the view soon, and was claimed no faster than time passed since the ad was opened.
 */
function pendingOf(session: AdSession, accepted: AcceptedProgress, now: Date) {
  const { early, earlyMs, isClaimedWatched, claimedMs } = accepted;
  const sinceOpenedMs = now.getTime() - session.openedAt.getTime() + SLACK_MS;
  if (!isClaimedWatched || early.length > MOST_PENDING || claimedMs > sinceOpenedMs) return undefined;
  const firstAt = session.closeRequestedAt ?? now;
  const settleAt = new Date(now.getTime() + earlyMs);
  const isTooLate = settleAt.getTime() - firstAt.getTime() > CLOSE_WAITS_MS || settleAt > session.deadline;
  return isTooLate ? undefined : { reports: early, settleAt };
}

/** This call's close, or an earlier one that still waits for its reports. */
function closeOf(session: AdSession, call: Advance): { requestedAt: Date; reason: CloseReason } | undefined {
  if (call.close) return { requestedAt: call.now, reason: call.close };
  const { closeRequestedAt, closeReason } = session;
  if (!closeRequestedAt || !closeReason) return undefined;
  const isWaiting = call.now.getTime() - closeRequestedAt.getTime() <= CLOSE_WAITS_MS;
  return isWaiting ? { requestedAt: closeRequestedAt, reason: closeReason } : undefined;
}

/** Nothing can be added any more; whatever still comes is settled. */
function afterTheEnd(session: AdSession, reports: readonly ProgressReport[]): RecordProgressOutcome {
  const acknowledged = [...new Set(reports.map(({ sequence }) => sequence))];
  const { acceptedMs, state } = session;
  return { outcome: "recorded", state, acceptedMs, acknowledged, refused: [], tooEarly: undefined };
}
