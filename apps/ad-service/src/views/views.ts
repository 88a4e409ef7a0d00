import { type CommitGroup, groupCommits, inRounds } from "@intermission/postgres/group-commits";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import type { Turns } from "@intermission/server/in-turn";
import type { FastifyBaseLogger } from "fastify";
import { LRUCache } from "lru-cache";
import { selectUnfinishedViews } from "../ad-selection/select-ad.ts";
import type { Bots, DeliveryMode } from "../bots/bots.ts";
import { type ClaimedEvent, type Deliveries, enqueueWebhook, type MadeEvents } from "../deliveries/enqueue-webhook.ts";
import { enqueueTrackerCalls } from "../vast/trackers.ts";
import { type SeenVideos, seenVideos } from "./expected-frames.ts";
import type { AdSession } from "./session.ts";
import {
  type ChangeOutcome,
  changeRowOf,
  changeRows,
  isProgressOnly,
  milestoneEvents,
  recordProgressOnly,
  takesClock,
  type ViewChange,
} from "./view-change.ts";

/** Views that are remembered while they are watched, at some 2 kB each. */
const MOST_REMEMBERED = 20_000;

/** The views of a store, with those that this node remembers. */
export interface Views {
  readonly database: Database;
  readonly bots: Bots;
  readonly deliveries: Deliveries;
  /**
   * Views as this node last stored them, so that the next report needs no read. If another node has changed one since, a
   * change of it results in "changed".
   */
  readonly remembered: LRUCache<string, AdSession>;
  /** By creative. */
  readonly seen: SeenVideos;
  /** The calls of one view run one after another on this node. */
  readonly turns: Turns;
  /** Changes that are progress only, many in one statement; and all others. */
  readonly progress: CommitGroup<ViewChange, ChangeOutcome>;
  readonly others: CommitGroup<ViewChange, ChangeOutcome>;
  readonly log: Pick<FastifyBaseLogger, "info" | "debug">;
}

export function openViews({ bots, deliveries, log }: Pick<Views, "bots" | "deliveries" | "log">): Views {
  const { database } = bots;
  return {
    ...{ database, bots, deliveries, log },
    // It stays full of abandoned views: a full Map takes 14 to 24 µs to find its first key behind deleted ones, an LRUCache 1 µs.
    remembered: new LRUCache<string, AdSession>({ max: MOST_REMEMBERED }),
    seen: seenVideos(),
    turns: new Map(),
    progress: groupCommits({ run: (batch) => recordProgressOnly(database, batch) }),
    others: groupCommits({ run: (batch) => recordInRounds({ database, deliveries }, batch) }),
  };
}

export function rememberView({ remembered }: Views, session: AdSession): void {
  const { sessionId, state } = session;
  if (state === "opened" || state === "playing" || state === "watched") remembered.set(sessionId, session);
  else remembered.delete(sessionId);
}

/**
 * Stores the change of a view. Resolves after the commit. Rejects if it is unknown whether there was a commit; a repeated
 * change is then "changed".
 */
export async function changeView(views: Views, change: ViewChange): Promise<ChangeOutcome> {
  const { database, deliveries, remembered } = views;
  const { sessionId, isVast, isTest } = change.before;
  const isTracked = isVast && !isTest && (change.milestones.length > 0 || change.ending !== undefined);
  const group = isProgressOnly(change) ? views.progress : views.others;
  let isStored = false;
  try {
    const changed = await (isTracked ? recordWithTrackers(database, change) : group.submit(change));
    if (isTracked) deliveries.wake();
    isStored = changed.outcome === "stored";
    if (changed.outcome === "stored") {
      rememberView(views, changed.session);
      logEnd(views, change, changed);
    }
    return changed;
  } finally {
    // The row differs from what is remembered, or its state is unknown.
    if (!isStored) remembered.delete(sessionId);
  }
}

const endings = { rewarded: "a view is paid", held: "a view is held for review", refused: "a view is refused" };

/** One line for the end of a view, with the ids that its event, its delivery and the publisher's ledger have. */
function logEnd(
  { log }: Views,
  { ending }: ViewChange,
  { session, limitReason }: Extract<ChangeOutcome, { outcome: "stored" }>,
): void {
  const { botId, userId, sessionId, campaignId, creativeId, state, isTest } = session;
  if (ending === undefined || !(state === "rewarded" || state === "held" || state === "refused")) return;
  const { suspicions, eventId } = ending;
  log.info(
    {
      ...{ botId, userId, sessionId, campaignId, creativeId },
      ...(state === "rewarded" && { eventId }),
      ...(limitReason && { reason: limitReason }),
      ...(suspicions.length > 0 && { suspicions }),
      ...(isTest && { isTest }),
    },
    endings[state],
  );
}

async function recordInRounds(
  { database, deliveries }: { database: Database; deliveries: Deliveries },
  batch: readonly ViewChange[],
): Promise<ChangeOutcome[]> {
  const outcomes = new Map<ViewChange, ChangeOutcome>();
  // Two views of one viewer in one statement would both be judged by the state before either.
  for (const round of inRounds(batch, viewerOf)) {
    const most = round.filter(({ ending }) => ending?.fate === "pay").length;
    const results = await deliveries.sendNew(most, (slots) => recordViews(database, round, slots));
    for (const [index, change] of round.entries()) outcomes.set(change, results[index] ?? { outcome: "changed" });
  }
  return batch.map((change) => outcomes.get(change) ?? { outcome: "changed" });
}

/** The tracker calls of an ad commit together with the change that they report. */
function recordWithTrackers(database: Database, change: ViewChange): Promise<ChangeOutcome> {
  return database.transaction(async (tx) => {
    const [recorded] = (await recordViews(tx, [change], 0)).result;
    if (recorded?.outcome !== "stored") return recorded ?? { outcome: "changed" };
    const { after, ending, now } = change;
    await enqueueTrackerCalls(tx, after, { events: milestoneEvents(change), playheadMs: after.acceptedMs, now });
    if (ending) await enqueueTrackerCalls(tx, after, { events: ["close"], playheadMs: after.durationMs, now });
    return recorded;
  });
}

const viewerOf = ({ before: { botId, userId } }: ViewChange) => `${botId} ${userId}`;

interface Row {
  position: number;
  /** With `availableAt`, why nothing was stored; else why the view that was stored waits, or is refused. */
  limitReason: "cooldown" | "daily-cap" | null;
  availableAt: Date | null;
  state: AdSession["state"] | null;
  closeRequestedAt: Date | null;
  dueAt: Date | null;
  eventId: string | null;
  url: string | null;
  deliveryMode: DeliveryMode | null;
}

const limitOf = (unfinished: string) => `limit_of_viewer(day, earned_today, last_earned_at, cooldown_seconds, daily_cap,
        ${unfinished}, now)`;

/*
 * Compare and set of many views at the same time, no two of one viewer. The rows of viewer and view are locked in the order
 * of the viewers and compared after locking, so that nothing that follows has to be undone. A view that ends is paid, held or
 * refused if the viewer's cooldown and cap allow it now; otherwise it waits until they do, or is refused if that is after its
 * deadline.
 */
const record = statement<Row>(
  "ad-sessions.record",
  `with changes as materialized (${changeRows.table}),
  locked_rows as materialized (
    select changes.*, s.user_id, s.code, s.reference, s.campaign_id, s.creative_id, s.is_test, s.deadline,
      s.close_requested_at as close_requested_before, v.day, v.earned_today, v.last_earned_at
    from changes
    join ad_sessions s on s.bot_id = changes.bot_id and s.session_id = changes.session_id
    join viewers v on v.bot_id = s.bot_id and v.user_id = s.user_id
    where s.version = changes.version and (not is_start or v.decisions = changes.decisions)
      -- A view that is over is never paid again, whatever the caller read.
      and (fate is null or s.state in ('playing', 'watched'))
      and (not takes_clock or v.clock_session_id is not distinct from clock_holder
        and v.credited_until is not distinct from viewer_credited_until)
    order by v.bot_id, v.user_id
    for update of v, s
  ),
  -- Locks the previous clock holder: its version must be unchanged, since the time credited to it counts for no other view.
  holders as materialized (
    select h.bot_id, h.session_id, h.version
    from locked_rows join ad_sessions h on h.bot_id = locked_rows.bot_id and h.session_id = clock_holder
    where takes_clock order by h.bot_id, h.session_id
    for update of h
  ),
  locked as materialized (
    select * from locked_rows
    where not takes_clock or clock_holder_version is not distinct from (
      select holders.version from holders where holders.bot_id = locked_rows.bot_id and session_id = clock_holder
    )
  ),
  judged as materialized (
    select *, case
        when is_start then (
          select ${limitOf(`unfinished.count::integer, unfinished."lastActiveAt", unfinished."firstDeadline"`)}
          from bots cross join lateral (
            ${selectUnfinishedViews({ botId: "locked.bot_id", userId: "locked.user_id", code: "locked.code", now: "locked.now" })}
          ) as unfinished where bots.bot_id = locked.bot_id
        )
        when fate is not null then (
          select ${limitOf("0, null, null")} from bots where bots.bot_id = locked.bot_id
        )
      end as verdict
    from locked
  ),
  decided as materialized (
    select *, fate is not null and (verdict).reason is null as is_earned,
      case when fate is null then null
        when (verdict).reason is null then case fate when 'pay' then 'rewarded' when 'hold' then 'held' else 'refused' end
        when (verdict).available_at > deadline then 'refused' end as ended_as,
      -- The close waits for the cooldown.
      fate is not null and (verdict).reason is not null and (verdict).available_at <= deadline as is_deferred
    from judged where not is_start or (verdict).reason is null
  ),
  stored as (
    update ad_sessions s set
      version = s.version + 1,
      token_hash = coalesce(decode(d.token_hash, 'hex'), s.token_hash), openings = d.openings,
      first_sequence = d.first_sequence, start_param = d.start_param,
      suspicions = case when is_earned then d.suspicions else s.suspicions end,
      state = coalesce(ended_as, d.state), accepted_ms = d.accepted_ms, clock_ms = d.clock_ms,
      credited_until = d.credited_until, covered = d.covered, sequences = d.sequences, signals = d.signals,
      refusals = case when ended_as = 'refused' and not is_earned
        then coalesce(d.refusals, '{}') || jsonb_build_object((verdict).reason, 1) else d.refusals end,
      started_at = d.started_at, last_report_at = d.last_report_at, watched_at = d.watched_at,
      close_requested_at = case when is_deferred then coalesce(close_requested_before, now) else d.close_requested_at end,
      closed_at = case when ended_as is not null then now else s.closed_at end, close_reason = d.close_reason,
      pending_reports = d.pending_reports,
      due_at = case when is_deferred then (verdict).available_at when ended_as is null then d.due_at end
    from decided d where s.bot_id = d.bot_id and s.session_id = d.session_id
    returning d.position, s.state, s.close_requested_at, s.due_at, d.due_before, s.bot_id, s.session_id,
      (d.verdict).reason as limit_reason
  ),
  not_due as (
    delete from views_due using stored
    where views_due.due_at = due_before and views_due.session_id = stored.session_id
      and stored.due_at is distinct from due_before
  ),
  due as (
    insert into views_due (due_at, bot_id, session_id)
    select due_at, bot_id, session_id from stored where due_at is not null and due_at is distinct from due_before
    on conflict do nothing
  ),
  clock_taken as (
    update ad_sessions h set version = h.version + 1 from decided d
    where takes_clock and h.bot_id = d.bot_id and h.session_id = d.clock_holder
  ),
  viewers_changed as (
    update viewers v set
      -- A view that ends releases the clock.
      clock_session_id = case when is_earned and (takes_clock or v.clock_session_id = d.session_id) then null
        when takes_clock then d.session_id else v.clock_session_id end,
      credited_until = case when is_earned and (takes_clock or v.clock_session_id = d.session_id)
        then greatest(plausible_time(v.credited_until, now), d.credited_until) else v.credited_until end,
      decisions = v.decisions + (is_start or is_earned)::integer,
      earned_today = case when is_earned then earned_on_day(v.day, v.earned_today, now) + 1 else v.earned_today end,
      day = case when is_earned then greatest(plausible_day(v.day, now), (now at time zone 'utc')::date) else v.day end,
      last_earned_at = case when is_earned then greatest(plausible_time(v.last_earned_at, now), now) else v.last_earned_at end
    from decided d
    where v.bot_id = d.bot_id and v.user_id = d.user_id and (is_earned or is_start or takes_clock)
  ),
  came_past as (
    insert into ad_milestones (bot_id, campaign_id, creative_id, milestone, reason, occurred_at)
    select bot_id, campaign_id, creative_id, milestone, '', now from decided, unnest(milestones) as milestone where not is_test
    union all
    select bot_id, campaign_id, creative_id, 'close', close_reason, now from decided where ended_as is not null and not is_test
    union all
    select bot_id, campaign_id, creative_id, ended_as,
      case when is_earned then array_to_string(suspicions, ' ') else (verdict).reason end, now
    from decided where ended_as in ('held', 'refused') and not is_test
  ),
  codes_withheld as (
    -- The user's next request gets another code.
    update current_codes set is_withheld = true from decided
    where current_codes.bot_id = decided.bot_id and current_codes.user_id = decided.user_id
      and current_codes.reference = decided.reference and current_codes.code = decided.code
      and ended_as in ('held', 'refused')
  ),
  earned as (
    select bot_id, event_id, 'rewarded' as event, user_id, code, nullif(reference, '') as reference, is_test, campaign_id,
      creative_id, case when not is_test then (
        select view_price_micros from campaigns where campaigns.campaign_id = decided.campaign_id
      ) end as price_micros, now as occurred_at, body, start_param
    from decided where ended_as = 'rewarded'
  ),
  ${enqueueWebhook({ from: "earned", more: ["start_param"], slots: `$${changeRows.parameters.length + 1}::integer` })}
  select position, limit_reason as "limitReason", null::timestamptz as "availableAt", state, close_requested_at as "closeRequestedAt",
    due_at as "dueAt", null as "eventId", null as url, null as "deliveryMode"
  from stored
  union all
  select position, (verdict).reason, (verdict).available_at, null, null, null, null, null, null
  from judged where is_start and (verdict).reason is not null
  union all
  select null, null, null, null, null, null, event_id, url, delivery_mode from claimed_events
  union all
  select null, null, null, null, null, null, event_id, null, null from waiting_events`,
);

/** Stores any changes, no two of one viewer. */
export async function recordViews(
  database: Transaction,
  changes: readonly ViewChange[],
  slots: number,
): Promise<MadeEvents<ChangeOutcome[]>> {
  const told = changes.map(changeRowOf);
  const bodies = new Map(
    changes.map(({ before }, index) => [told[index]?.event_id, { ...told[index], botId: before.botId }]),
  );
  const outcomes = changes.map((): ChangeOutcome => ({ outcome: "changed" }));
  const claimed: ClaimedEvent[] = [];
  let areWaiting = false;
  for (const row of await database.run(record, [...changeRows.values(told), slots])) {
    const { eventId, url, deliveryMode } = row;
    const change = changes[row.position];
    if (eventId !== null && url !== null && deliveryMode !== null) {
      const { botId = "", body } = bodies.get(eventId) ?? {};
      if (body) claimed.push({ botId, eventId, body, url, deliveryMode });
    } else if (eventId !== null) {
      areWaiting = true;
    } else if (change) {
      outcomes[row.position] = outcomeOf(change, row);
    }
  }
  return { result: outcomes, areWaiting, claimed };
}

function outcomeOf(change: ViewChange, row: Row): ChangeOutcome {
  const { after, isStart } = change;
  const { limitReason: reason, availableAt, state, closeRequestedAt, dueAt } = row;
  if (reason !== null && availableAt !== null) return { outcome: "limited", reason, availableAt };
  const stored = { state: state ?? after.state, closeRequestedAt, dueAt };
  const clockHolderId = takesClock(change) ? after.sessionId : after.clockHolderId;
  const decisions = after.decisions + (isStart ? 1 : 0);
  const session = { ...after, ...stored, clockHolderId, decisions, version: after.version + 1 };
  return { outcome: "stored", session, limitReason: reason };
}
