import { setTimeout } from "node:timers/promises";
import { newEventId } from "@intermission/ad-core/code";
import { statement } from "@intermission/postgres/open-database";
import type { FastifyBaseLogger } from "fastify";
import { randomBytes } from "../random-bytes.ts";
import { endingOf, SILENCE_MS, settlePendingReports, silentFrom } from "./record-progress.ts";
import { type AdSession, clockHolder, type SessionRow, sessionColumns, sessionOf } from "./rows.ts";
import type { ViewRecorder } from "./view-recorder.ts";

const BATCH = 100;

// Row by row, in the order of the key: joined as a whole, all views there ever were could be read for it.
const readDue = statement<SessionRow>(
  "ad-sessions.read-due",
  `select ${sessionColumns}
   from (select * from views_due where due_at <= $1 order by due_at limit $2) as due
   cross join lateral (
     select * from ad_sessions where ad_sessions.bot_id = due.bot_id and ad_sessions.session_id = due.session_id limit 1
   ) as s
   cross join lateral (
     select * from viewers where viewers.bot_id = s.bot_id and viewers.user_id = s.user_id limit 1
   ) as v
   ${clockHolder}`,
);

/**
 * Settles what waited for its moment: closed views whose last reports came too early, or whose bot's cooldown was not over.
 * Closes what was watched and never closed: swiped away, or open until its deadline. `listeningSince` is when heartbeats
 * could be heard again, so that a restart of ours is not taken for the viewer's silence. One batch; says how many were
 * settled. Nodes may sweep at the same time: of two changes of a view one is stored.
 */
export async function sweepSessions(
  views: ViewRecorder,
  { listeningSince, now }: { listeningSince: Date; now: Date },
): Promise<{ settled: number }> {
  const due = (await views.database.run(readDue, [now, BATCH])).map(sessionOf);
  const isListening = listeningSince.getTime() + SILENCE_MS <= now.getTime();
  const settled = await Promise.all(due.map((session) => settleDue(views, session, { isListening, now })));
  return { settled: settled.filter(Boolean).length };
}

async function settleDue(
  views: ViewRecorder,
  session: AdSession,
  { isListening, now }: { isListening: boolean; now: Date },
): Promise<boolean> {
  const eventId = newEventId(now.getTime(), randomBytes(10));
  if (session.state === "playing") {
    await settlePendingReports(views, session, { eventId, now });
    return true;
  }
  const isPastDeadline = session.deadline < now;
  const silence = isPastDeadline ? "deadline" : "heartbeat-lost";
  const isClosed = session.closeRequestedAt !== null;
  if (!isClosed && !isPastDeadline) {
    const at = silentFrom(session, session.lastReportAt ?? session.openedAt);
    if (at > now) {
      await lookAgain(views, session, { at, now });
      return false;
    }
    if (!isListening) return false;
  }
  const reason = isClosed ? (session.closeReason ?? silence) : silence;
  await views.change(await endingOf(views, session, { reason, eventId, now }));
  return true;
}

/** Its heartbeat was heard meanwhile. */
async function lookAgain(views: ViewRecorder, session: AdSession, { at, now }: { at: Date; now: Date }): Promise<void> {
  await views.change({ before: session, after: { ...session, dueAt: at }, isStart: false, milestones: [], now });
}

/** Sweeps each second until it is stopped; stopping waits for the batch under way. Any number of nodes may do so. */
export function startSweepingSessions(deps: {
  views: ViewRecorder;
  log: Pick<FastifyBaseLogger, "error">;
  now?: () => Date;
  everyMs?: number;
}): { stop(): Promise<void> } {
  const { views, log, now = () => new Date(), everyMs = 1000 } = deps;
  const listeningSince = now();
  const stopping = new AbortController();

  async function sweepUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      const { settled } = await sweepSessions(views, { listeningSince, now: now() }).catch((error) => {
        log.error(error, "sessions could not be swept; trying again");
        return { settled: 0 };
      });
      if (settled < BATCH) await setTimeout(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  const running = sweepUntilStopped();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
