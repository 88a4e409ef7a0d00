import type { ProgressReport } from "@intermission/ad-core/player-api";
import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { wakeDeliveries } from "../webhook-delivery/wake-deliveries.ts";
import { type AcceptedProgress, acceptProgress } from "./accept-progress.ts";
import { type AdSession, lockSession } from "./rows.ts";
import type { CloseReason } from "./schema.ts";
import { isSessionToken } from "./session-token.ts";
import { settleSession } from "./settle-session.ts";

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
  | ({ outcome: "recorded"; state: AdSession["state"] } & Omit<AcceptedProgress, "progress" | "isWatched">)
  | { outcome: "unknown" }
  | { outcome: "superseded" }
  | { outcome: "over" };

/** A close may overtake the reports that complete the view: they have this long to arrive. */
const CLOSE_WAITS_MS = 30_000;

const storeProgress = statement(
  "ad-sessions.store-progress",
  `update ad_sessions set state = $3, accepted_ms = $4, progress = $5, started_at = $6, last_report_at = $7,
     watched_at = $8, close_requested_at = $9, close_reason = $10
   where bot_id = $1 and session_id = $2`,
);

export async function recordProgress(database: AdDatabase, call: ProgressCall): Promise<RecordProgressOutcome> {
  const outcome = await database.transaction((tx) => recordUnderLock(tx, call));
  if (outcome.outcome === "recorded" && outcome.state === "rewarded") wakeDeliveries();
  return outcome;
}

async function recordUnderLock(tx: AdTransaction, call: ProgressCall): Promise<RecordProgressOutcome> {
  const session = await lockSession(tx, call);
  if (!session) return { outcome: "unknown" };
  if (!isSessionToken(call.token, session.tokenHash)) {
    return { outcome: session.openings > 1 ? "superseded" : "unknown" };
  }
  if (session.state === "rewarded") return afterTheReward(session, call.reports);
  if (call.now > session.deadline) {
    if (session.state !== "watched") return { outcome: "over" };
    await settleSession(tx, session, { closeReason: "deadline", eventId: call.eventId, now: call.now });
    return afterTheReward(session, call.reports);
  }
  return advance(tx, session, call);
}

async function advance(tx: AdTransaction, session: AdSession, call: ProgressCall): Promise<RecordProgressOutcome> {
  const startedAt = session.startedAt ?? (call.isStart ? call.now : null);
  const { progress, isWatched, ...accepted } = acceptProgress({ ...session, startedAt }, call.reports, call.now);
  const state = session.state === "watched" || isWatched ? "watched" : startedAt ? "playing" : "opened";
  const close = closeOf(session, call);
  const watchedAt = session.watchedAt ?? (state === "watched" ? call.now : null);
  const values = [session.botId, session.sessionId, state, accepted.acceptedMs, JSON.stringify(progress), startedAt];
  await tx.run(storeProgress, [...values, call.now, watchedAt, close?.requestedAt ?? null, close?.reason ?? null]);
  if (state !== "watched" || !close) return { outcome: "recorded", state, ...accepted };
  await settleSession(tx, session, { closeReason: close.reason, eventId: call.eventId, now: call.now });
  return { outcome: "recorded", state: "rewarded", ...accepted };
}

/** This call's close, or an earlier one that still waits for its reports. */
function closeOf(session: AdSession, call: ProgressCall): { requestedAt: Date; reason: CloseReason } | undefined {
  if (call.close) return { requestedAt: call.now, reason: call.close };
  const { closeRequestedAt, closeReason } = session;
  if (!closeRequestedAt || !closeReason) return undefined;
  const isWaiting = call.now.getTime() - closeRequestedAt.getTime() <= CLOSE_WAITS_MS;
  return isWaiting ? { requestedAt: closeRequestedAt, reason: closeReason } : undefined;
}

/** Nothing can be added any more; whatever still comes is settled. */
function afterTheReward(session: AdSession, reports: readonly ProgressReport[]): RecordProgressOutcome {
  const acknowledged = [...new Set(reports.map(({ sequence }) => sequence))];
  const { acceptedMs } = session;
  return { outcome: "recorded", state: "rewarded", acceptedMs, acknowledged, refused: [], tooEarly: undefined };
}
