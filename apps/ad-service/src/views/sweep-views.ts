import { newEventId } from "@intermission/ad-core/code";
import { statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import { randomBytes } from "@intermission/server/random-bytes";
import type { FastifyBaseLogger } from "fastify";
import { type AdView, clockHolder, type ViewRow, viewColumns, viewOf } from "./ad-view.ts";
import { settlePendingReports } from "./record-progress.ts";
import { endingOf, SILENCE_MS, silentFrom } from "./view-ending.ts";
import { inWeekOfView } from "./view-ids.ts";
import { changeView, type Views } from "./views.ts";

const BATCH = 100;

// Looks rows up one by one, in key order: a plain join could read all views of all time.
const readDue = statement<ViewRow>(
  "views.read-due",
  `select ${viewColumns}
   from (select * from views_due where due_at <= $1 order by due_at limit $2) as due
   cross join lateral (
     select * from views
     where views.bot_id = due.bot_id and views.view_id = due.view_id and ${inWeekOfView("due.view_id", "views.code")} limit 1
   ) as s
   cross join lateral (
     select * from viewers where viewers.bot_id = s.bot_id and viewers.user_id = s.user_id limit 1
   ) as v
   ${clockHolder}`,
);

/**
 * Settles views whose time has come: closed views whose last reports were too early, or whose bot's cooldown was not over.
 * Closes views that were watched and never closed: the app was swiped away, or stayed open until the deadline.
 * `listeningSince` is when this service began to receive heartbeats, so that its own restart does not count as the viewer's
 * silence. Processes one batch and returns how many views it settled. Nodes may sweep at the same time: of two changes of a
 * view, one is stored.
 */
export async function sweepViews(
  views: Views,
  { listeningSince, now }: { listeningSince: Date; now: Date },
): Promise<{ settled: number }> {
  const due = (await views.database.run(readDue, [now, BATCH])).map(viewOf);
  const isListening = listeningSince.getTime() + SILENCE_MS <= now.getTime();
  const settled = await Promise.all(due.map((view) => settleDue(views, view, { isListening, now })));
  return { settled: settled.filter(Boolean).length };
}

async function settleDue(
  views: Views,
  view: AdView,
  { isListening, now }: { isListening: boolean; now: Date },
): Promise<boolean> {
  const eventId = newEventId(now.getTime(), randomBytes(10));
  if (view.state === "playing") {
    await settlePendingReports(views, view, { eventId, now });
    return true;
  }
  const isPastDeadline = view.deadline < now;
  const silence = isPastDeadline ? "deadline" : "heartbeat-lost";
  const isClosed = view.closeRequestedAt !== null;
  if (!isClosed && !isPastDeadline) {
    const at = silentFrom(view, view.lastReportAt ?? view.openedAt);
    if (at > now) {
      await lookAgain(views, view, { at, now });
      return false;
    }
    if (!isListening) return false;
  }
  const reason = isClosed ? (view.closeReason ?? silence) : silence;
  await changeView(views, await endingOf(views, view, { reason, eventId, now }));
  return true;
}

/** A heartbeat arrived meanwhile, so the view is checked again later. */
async function lookAgain(views: Views, view: AdView, { at, now }: { at: Date; now: Date }): Promise<void> {
  await changeView(views, { before: view, after: { ...view, dueAt: at }, isStart: false, milestones: [], now });
}

/** Sweeps every second until stopped; stopping waits for the current batch. Any number of nodes may sweep. */
export function startSweepingViews(deps: {
  views: Views;
  log: Pick<FastifyBaseLogger, "error">;
  now?: () => Date;
  everyMs?: number;
}): BackgroundLoop {
  const { views, log, now = () => new Date(), everyMs = 1000 } = deps;
  const listeningSince = now();
  return startLoop({
    everyMs,
    async round() {
      const { settled } = await sweepViews(views, { listeningSince, now: now() });
      return settled < BATCH ? undefined : 0;
    },
    onFault: (error) => log.error({ err: error }, "sweeping the views failed; the next sweep retries"),
  });
}
