import type { PlaybackFault, ProgressReport } from "@intermission/ad-core/player-api";
import { type Statement, statement } from "@intermission/postgres/open-database";
import type { AdTransaction } from "../ad-database.ts";
import type { Progress } from "./accept-progress.ts";
import type { CloseReason, StoredState } from "./schema.ts";
import type { ViewingSignals } from "./viewing-signals.ts";

export interface AdSession {
  botId: string;
  sessionId: string;
  code: string;
  userId: string;
  /** The publisher's own key of the code, "" without one. */
  reference: string;
  campaignId: string;
  creativeId: string;
  /** Its ad came from a tag, whose trackers want to be called. */
  isVast: boolean;
  state: StoredState;
  tokenHash: Buffer;
  openings: number;
  firstSequence: number;
  durationMs: number;
  acceptedMs: number;
  progress: Progress;
  signals: ViewingSignals | null;
  openedAt: Date;
  startedAt: Date | null;
  watchedAt: Date | null;
  closeRequestedAt: Date | null;
  closeReason: CloseReason | null;
  deadline: Date;
  /** Real time that was credited to this view. */
  clockMs: number;
  /** What was claimed too early and is settled, without another call, at `settleAt`. */
  pendingReports: ProgressReport[] | null;
  /** When a closed view settles that waits for the clock, or for the bot's cooldown. */
  settleAt: Date | null;
  /** Why its player gave the video up the last time, and when. */
  fault: PlaybackFault | null;
  faultAt: Date | null;
  /** What the code was opened with before, and could not be played. */
  failedCreatives: string[];
  isTest: boolean;
}

const columns = `
  s.bot_id as "botId", s.session_id as "sessionId", s.code, s.user_id as "userId", c.reference,
  s.campaign_id as "campaignId", s.creative_id as "creativeId", s.is_vast as "isVast", s.state, s.token_hash as "tokenHash", s.openings,
  s.first_sequence as "firstSequence", s.duration_ms as "durationMs", s.accepted_ms as "acceptedMs", s.progress, s.signals,
  s.opened_at as "openedAt", s.started_at as "startedAt", s.watched_at as "watchedAt", s.close_requested_at as "closeRequestedAt",
  s.close_reason as "closeReason", s.deadline, s.clock_ms as "clockMs",
  s.pending_reports as "pendingReports", s.settle_at as "settleAt", s.is_test as "isTest",
  s.fault, s.fault_at as "faultAt", s.failed_creatives as "failedCreatives"`;

const source = "ad_sessions s join codes c on c.bot_id = s.bot_id and c.code = s.code";

const read = statement<AdSession>(
  "ad-sessions.read",
  `select ${columns} from ${source} where s.bot_id = $1 and s.session_id = $2`,
);
const lock: Statement<AdSession> = statement("ad-sessions.lock", `${read.text} for update of s`);
const lockOfCode = statement<AdSession>(
  "ad-sessions.lock-of-code",
  `select ${columns} from ${source} where s.bot_id = $1 and s.code = $2 for update of s`,
);
const lockAbandoned = statement<AdSession>(
  "ad-sessions.lock-abandoned",
  `select ${columns} from ${source}
   where s.state = 'watched' and s.settle_at is null and (s.last_report_at < $1 or s.deadline < $2)
   order by s.last_report_at limit $3 for update of s skip locked`,
);
const lockDue = statement<AdSession>(
  "ad-sessions.lock-due",
  `select ${columns} from ${source} where s.settle_at <= $1 and s.state in ('playing', 'watched')
   order by s.settle_at limit $2 for update of s skip locked`,
);

export async function readSession(database: AdTransaction, id: { botId: string; sessionId: string }) {
  return (await database.run(read, [id.botId, id.sessionId]))[0];
}

export async function lockSession(tx: AdTransaction, id: { botId: string; sessionId: string }) {
  return (await tx.run(lock, [id.botId, id.sessionId]))[0];
}

export async function lockSessionOfCode(tx: AdTransaction, { botId, code }: { botId: string; code: string }) {
  return (await tx.run(lockOfCode, [botId, code]))[0];
}

/** Those that wait for a moment which has come. */
export async function lockDueSessions(tx: AdTransaction, { now, atMost }: { now: Date; atMost: number }) {
  return tx.run(lockDue, [now, atMost]);
}

/** Watched, and silent since a moment or past their deadline; those that another node is settling right now are left out. */
export async function lockAbandonedSessions(
  tx: AdTransaction,
  { silentSince, now, atMost }: { silentSince: Date; now: Date; atMost: number },
) {
  return tx.run(lockAbandoned, [silentSince, now, atMost]);
}
