import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { newEventId } from "@intermission/ad-core/code";
import type { FastifyBaseLogger } from "fastify";
import type { AdDatabase } from "../ad-database.ts";
import type { Deliveries } from "../webhook-delivery/deliveries.ts";
import { closeSession } from "./close-session.ts";
import { settlePendingReports } from "./record-progress.ts";
import { lockAbandonedSessions, lockDueSessions } from "./rows.ts";

/** A heartbeat is due each 5 s once a video was watched: three missed ones mean that the page is gone. */
const SILENCE_MS = 15_000;
const BATCH = 100;

/**
 * Settles what waited for its moment: closed views whose last reports came too early, or whose bot's cooldown was not over.
 * Closes what was watched and never closed: swiped away, or open until its deadline. `listeningSince` is when heartbeats
 * could be heard again, so that a restart of ours is not taken for the viewer's silence. One batch; says how many.
 */
export async function sweepSessions(
  database: AdDatabase,
  { listeningSince, now }: { listeningSince: Date; now: Date },
): Promise<{ settled: number }> {
  const silentSince = new Date(now.getTime() - SILENCE_MS);
  const isListeningLongEnough = listeningSince <= silentSince;
  const settled = await database.transaction(async (tx) => {
    const eventId = () => newEventId(now.getTime(), randomBytes(10));
    const due = await lockDueSessions(tx, { now, atMost: BATCH });
    const abandoned = await lockAbandonedSessions(tx, {
      silentSince: isListeningLongEnough ? silentSince : new Date(0),
      now,
      atMost: BATCH,
    });
    // Viewers are locked in one order, so that two nodes do not wait for one another.
    for (const session of [...due, ...abandoned].toSorted((a, b) => (a.userId < b.userId ? -1 : 1))) {
      const isPending = session.state === "playing";
      const silence = session.deadline < now ? "deadline" : "heartbeat-lost";
      const closeReason = session.settleAt === null ? silence : (session.closeReason ?? silence);
      if (isPending) await settlePendingReports(tx, session, { eventId: eventId(), now });
      else await closeSession(tx, session, { closeReason, eventId: eventId(), now });
    }
    return Math.max(due.length, abandoned.length);
  });
  return { settled };
}

/** Sweeps each second until it is stopped; stopping waits for the batch under way. Any number of nodes may do so. */
export function startSweepingSessions(deps: {
  database: AdDatabase;
  deliveries: Deliveries;
  log: Pick<FastifyBaseLogger, "error">;
  now?: () => Date;
  everyMs?: number;
}): { stop(): Promise<void> } {
  const { database, deliveries, log, now = () => new Date(), everyMs = 1000 } = deps;
  const listeningSince = now();
  const stopping = new AbortController();

  async function sweepUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      const { settled } = await sweepSessions(database, { listeningSince, now: now() }).catch((error) => {
        log.error(error, "sessions could not be swept; trying again");
        return { settled: 0 };
      });
      if (settled > 0) deliveries.wake();
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
