import type { EventType } from "@intermission/ad-core/client-api";
import { encodeWebhookEvent } from "@intermission/ad-core/webhook-event";
import { statement, type Transaction } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import type { ViewerLimit } from "../ad-selection/limit-of-viewer.ts";
import type { EventWorth } from "../campaigns/event-worth.ts";
import type { TrackedEvent } from "../vast/vast-ad.ts";
import type { Milestone } from "./accept-progress.ts";
import type { AdView } from "./session.ts";
import { numbersOf, type Suspicion } from "./viewing-signals.ts";

/** The change of a view by a call, an opening or the sweeper. It is stored only if the view is still as it was read. */
export interface ViewChange {
  before: AdView;
  after: AdView;
  /** Playback begins: the viewer's limits are checked. */
  isStart: boolean;
  /** The view was watched and is now closed. */
  ending?: { fate: "pay" | "hold" | "refuse"; suspicions: Suspicion[]; eventId: string } | undefined;
  milestones: Milestone[];
  now: Date;
}

export type ChangeOutcome =
  /** `limitReason`: the limit because of which its end waits, or is refused. */
  | {
      outcome: "stored";
      view: AdView;
      limitReason?: Extract<ViewerLimit, { outcome: "limited" }>["reason"] | null;
    }
  /** Another change was stored first: read the view again. Nothing was stored. */
  | { outcome: "changed" }
  /** Playback may not begin. Nothing was stored. */
  | Extract<ViewerLimit, { outcome: "limited" }>;

export const progressColumns = {
  position: "integer",
  bot_id: "text",
  view_id: "text",
  version: "integer",
  accepted_ms: "integer",
  clock_ms: "integer",
  credited_until: "timestamptz",
  covered: "integer[]",
  sequences: "integer[]",
  signals: "integer[]",
  refusals: "jsonb",
  watched_at: "timestamptz",
  due_at: "timestamptz",
  milestones: "text[]",
  now: "timestamptz",
} as const;
/** The parameters of the statement that stores progress only. */
const progressRows = rowParameters(progressColumns);

/** Only progress, of a view that continues or was watched to its end. */
export function isProgressOnly(change: ViewChange): boolean {
  const { before, after, isStart, ending } = change;
  if (isStart || ending !== undefined || before.pendingReports !== null || after.pendingReports !== null) return false;
  const isClosing = before.closeRequestedAt !== after.closeRequestedAt || before.closeReason !== after.closeReason;
  const isOpening = before.tokenHash !== after.tokenHash || before.firstSequence !== after.firstSequence;
  if (before.startedAt !== after.startedAt) return false;
  if (isClosing || isOpening || takesClock(change)) return false;
  if (before.state === "watched") return after.dueAt !== null && after.dueAt === before.dueAt;
  return before.state === "playing" && before.dueAt === null && (after.dueAt !== null) === (after.state === "watched");
}

/** Only one view of a viewer is credited time: the one that holds the viewer's clock. True if this change must take it. */
export function takesClock({ before, after, isStart }: ViewChange): boolean {
  return before.clockHolderId !== before.viewId && (isStart || after.clockMs > before.clockMs);
}

/*
 * The fast path of nearly all reports: a view that holds its viewer's clock continues, or was watched to its end. Taking the
 * clock from a view increments its version, so comparing this one row also protects the viewer's state.
 */
const recordProgress = statement<{ position: number }>(
  "views.record-progress",
  `with stored as (
    update views s set
      version = s.version + 1, accepted_ms = c.accepted_ms, clock_ms = c.clock_ms, credited_until = c.credited_until,
      covered = c.covered, sequences = c.sequences, signals = c.signals, refusals = c.refusals,
      state = case when c.watched_at is null then s.state else 'watched' end, watched_at = c.watched_at, due_at = c.due_at,
      last_report_at = c.now
    from (select * from (${progressRows.table}) as changes order by view_id) as c
    where s.bot_id = c.bot_id and s.view_id = c.view_id and s.version = c.version
    returning c.position, s.bot_id, s.view_id, s.campaign_id, s.creative_id, s.is_test, c.milestones, c.now,
      c.watched_at, c.due_at
  ),
  due as (
    insert into views_due (due_at, bot_id, view_id)
    -- A view that was watched before has its row already.
    select due_at, bot_id, view_id from stored where watched_at = now
    on conflict do nothing
  ),
  milestones_counted as (
    insert into ad_milestones (bot_id, campaign_id, creative_id, milestone, occurred_at)
    select bot_id, campaign_id, creative_id, milestone, now from stored, unnest(milestones) as milestone where not is_test
  )
  select position from stored`,
);

/** Stores progress of views that continue, each only if nothing else has changed it since. */
export async function recordProgressOnly(
  database: Transaction,
  changes: readonly ViewChange[],
): Promise<ChangeOutcome[]> {
  const outcomes = changes.map((): ChangeOutcome => ({ outcome: "changed" }));
  for (const { position } of await database.run(recordProgress, progressRows.values(changes.map(progressRowOf)))) {
    const after = changes[position]?.after;
    if (after) outcomes[position] = { outcome: "stored", view: { ...after, version: after.version + 1 } };
  }
  return outcomes;
}

// Every report runs this, and a spread would copy each property.
export function progressRowOf({ before, after, milestones, now }: ViewChange, position: number) {
  const { covered, sequences, refusals } = after.progress;
  return {
    position,
    bot_id: before.botId,
    view_id: before.viewId,
    version: before.version,
    accepted_ms: after.acceptedMs,
    clock_ms: after.clockMs,
    credited_until: after.creditedUntil,
    covered: covered.flat(),
    sequences: sequences.flat(),
    signals: after.signals && numbersOf(after.signals, after.openedAt),
    refusals: Object.keys(refusals).length > 0 ? refusals : null,
    watched_at: after.watchedAt,
    due_at: after.dueAt,
    milestones: milestones.length > 0 ? milestones : null,
    now,
  };
}

/** The bytes of the event that the view may earn. */
export function bodyOf(
  view: Pick<AdView, "botId" | "userId" | "code" | "reference" | "startParam" | "isTest">,
  { eventId }: { eventId: string },
  now: Date,
  { fields }: EventWorth,
): string {
  const { botId, userId, code, reference, startParam, isTest } = view;
  return encodeWebhookEvent({
    event: "rewarded" satisfies EventType,
    event_id: eventId,
    bot_id: botId,
    user_tg_id: userId,
    code,
    ...(reference !== "" && { reference }),
    ...(startParam !== null && { start_param: startParam }),
    occurred_at: now.toISOString(),
    ...fields,
    ...(isTest && { test: true as const }),
  });
}

/** The VAST events of each milestone. The first frame is the impression; the start is when the server learns of it. */
const trackedEventsOf = {
  start: ["impression", "start", "verificationNotExecuted"],
  "first-quartile": ["firstQuartile"],
  midpoint: ["midpoint"],
  "third-quartile": ["thirdQuartile"],
  // The end card follows at once.
  complete: ["complete", "companionView"],
} satisfies Record<Milestone, TrackedEvent[]>;

export function milestoneEvents({ milestones }: ViewChange): TrackedEvent[] {
  return milestones.flatMap((milestone) => trackedEventsOf[milestone]);
}
