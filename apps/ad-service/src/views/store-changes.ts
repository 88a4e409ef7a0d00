import { statement, type Transaction } from "@intermission/postgres/open-database";
import type { DeliveryMode } from "../bots/bots.ts";
import { type ClaimedEvent, claimedEventOf, enqueueWebhook, type MadeEvents } from "../deliveries/enqueue-webhook.ts";
import { changeRowOf, changeRows, type DecidedChange, progressRowOf, progressRows } from "./change-rows.ts";
import { readViewers } from "./read-viewers.ts";
import { settleView, type ViewDecision, type ViewerFacts, viewAfter } from "./settle-view.ts";
import type { ChangeOutcome, ViewChange } from "./view-change.ts";
import { inWeekOfView } from "./view-ids.ts";

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
    where s.bot_id = c.bot_id and s.view_id = c.view_id and s.code = c.code and s.version = c.version
    returning c.position, s.bot_id, s.view_id, s.campaign_id, s.creative_id, s.is_test, s.audience, c.milestones, c.now,
      c.watched_at, c.due_at
  ),
  due as (
    insert into views_due (due_at, bot_id, view_id)
    -- A view that was watched before has its row already.
    select due_at, bot_id, view_id from stored where watched_at = now
    on conflict do nothing
  ),
  milestones_counted as (
    insert into ad_milestones (bot_id, campaign_id, creative_id, milestone, audience, occurred_at)
    select bot_id, campaign_id, creative_id, milestone, audience, now from stored, unnest(milestones) as milestone where not is_test
  )
  select position from stored`,
);

/** Stores progress of views that continue, each only if nothing else has changed it since. */
export async function storeProgress(database: Transaction, changes: readonly ViewChange[]): Promise<ChangeOutcome[]> {
  const outcomes = changes.map((): ChangeOutcome => ({ outcome: "changed" }));
  for (const { position } of await database.run(recordProgress, progressRows.values(changes.map(progressRowOf)))) {
    const after = changes[position]?.after;
    if (after) outcomes[position] = { outcome: "stored", view: { ...after, version: after.version + 1 } };
  }
  return outcomes;
}

/** `stored`: the change at this position; `claimed` and `waiting`: an event that one of them earned. */
interface Row {
  kind: "stored" | "claimed" | "waiting";
  position: number | null;
  eventId: string | null;
  url: string | null;
  deliveryMode: DeliveryMode | null;
}

/*
 * What few changes need is done by functions of `migrations/0002-unfinished-views.sql`: as parts of the statement they would be
 * prepared each time, for every partition. PostgreSQL calls a function only if the final select reads its result, which that
 * select then filters out; `having` leaves it out where there is no row.
 */
const rareRecords = `
    select end_clock_holders(array_agg(bot_id), array_agg(clock_holder)) from unchanged
    where takes_clock and clock_holder is not null having count(*) > 0
    union all
    select withhold_codes(array_agg(bot_id), array_agg(user_id), array_agg(reference), array_agg(code)) from unchanged
    where closed_at is not null and state in ('held', 'refused') having count(*) > 0 offset 0`;

/*
 * Writes what was decided about many views, no two of one viewer, each only if its facts are unchanged: the
 * version of the view, of the viewer's row (`decisions`) where the view starts or ends, and of the viewer's clock where the
 * view takes it. Rows are locked in this order: viewers and their views, in the order of the viewers; earlier clock holders;
 * days of campaigns. They are compared once they are locked, so that nothing that follows has to be undone.
 */
const record = statement<Row>(
  "views.record",
  `with changes as materialized (${changeRows.table}),
  locked as materialized (
    select changes.*, s.reference, s.campaign_id, s.creative_id, s.is_test, s.audience
    from (select * from changes order by bot_id, user_id) as changes
    -- The planner does not flatten a subquery that locks, so each row is looked up by its key.
    cross join lateral (
      select clock_view_id, credited_until, decisions from viewers
      where viewers.bot_id = changes.bot_id and viewers.user_id = changes.user_id for update
    ) as v
    cross join lateral (
      select reference, campaign_id, creative_id, is_test, audience, views.state, views.charged_at from views
      where views.bot_id = changes.bot_id and views.view_id = changes.view_id and views.code = changes.code
        and views.version = changes.version for update
    ) as s
    where (decisions_read is null or v.decisions = decisions_read)
      -- Whatever the caller read, a view that is over never ends again, and one that was charged is not charged again.
      and (changes.closed_at is null or s.state in ('opened', 'playing', 'watched'))
      and (changes.event_id is null or s.charged_at is null)
      and (not takes_clock or v.clock_view_id is not distinct from clock_holder
        and v.credited_until is not distinct from viewer_credited_until)
  ),
  -- The time credited to the previous clock holder counts for no other view, so its version must be unchanged.
  holders as materialized (
    select h.bot_id, h.view_id, h.version
    from locked join views h on h.bot_id = locked.bot_id and h.view_id = clock_holder and ${inWeekOfView("clock_holder", "h.code")}
    where takes_clock order by h.bot_id, h.view_id
    for update of h
  ),
  unchanged as materialized (
    select * from locked where not takes_clock or clock_holder_version is not distinct from (
      select holders.version from holders where holders.bot_id = locked.bot_id and view_id = clock_holder
    )
  ),
  stored as (
    update views s set
      version = s.version + 1, token_hash = coalesce(decode(u.token_hash, 'hex'), s.token_hash),
      openings = u.openings, first_sequence = u.first_sequence, start_param = u.start_param, client_note = u.client_note,
      suspicions = coalesce(u.suspicions, s.suspicions), state = u.state, accepted_ms = u.accepted_ms,
      clock_ms = u.clock_ms, credited_until = u.credited_until, covered = u.covered, sequences = u.sequences,
      signals = u.signals, refusals = u.refusals, started_at = u.started_at, last_report_at = u.last_report_at,
      watched_at = u.watched_at, close_requested_at = u.close_requested_at,
      charged_at = u.charged_at, closed_at = coalesce(u.closed_at, s.closed_at), close_reason = u.close_reason,
      pending_reports = u.pending_reports, due_at = u.due_at
    from unchanged u where s.bot_id = u.bot_id and s.view_id = u.view_id and s.code = u.code
    returning u.position
  ),
  ${recordBeside()},
  earned as (
    select bot_id, event_id, event, user_id, code, nullif(reference, '') as reference, is_test, campaign_id,
      creative_id, price_micros, revenue_micros, audience, now as occurred_at, body, traceparent, start_param,
      event_note as client_note from unchanged where event_id is not null
  ),
  ${enqueueWebhook({ from: "earned", isTraced: true, maySayNothing: true, more: ["start_param", "client_note", "audience"], slots: `$${changeRows.parameters.length + 1}::integer` })}
  select 'stored' as kind, position, null as "eventId", null as url, null as "deliveryMode" from stored
  union all
  select 'claimed', null, event_id, url, delivery_mode from claimed_events
  union all
  select 'waiting', null, event_id, null, null from enqueued_deliveries where state = 'waiting'
  union all
  select 'waiting', null, null, null, null from (${rareRecords}) as records (recorded) where recorded is null`,
);

/** The changes of other tables: when views are due, the viewers, and the figures of the ads. */
function recordBeside(): string {
  return `not_due as (
    delete from views_due using unchanged
    where views_due.due_at = due_before and views_due.view_id = unchanged.view_id
      and unchanged.due_at is distinct from due_before
  ),
  due as (
    insert into views_due (due_at, bot_id, view_id)
    select due_at, bot_id, view_id from unchanged where due_at is not null and due_at is distinct from due_before
    on conflict do nothing
  ),
  viewers_changed as (
    update viewers v set
      clock_view_id = case clock_change when 'taken' then u.view_id when 'released' then null
        else v.clock_view_id end,
      credited_until = case clock_change when 'released' then released_until else v.credited_until end,
      decisions = coalesce(u.decisions, v.decisions), day = coalesce(u.day::date, v.day),
      earned_today = coalesce(u.earned_today, v.earned_today), last_earned_at = coalesce(u.last_earned_at, v.last_earned_at),
      last_interstitial_at = coalesce(u.last_interstitial_at, v.last_interstitial_at)
    from unchanged u
    where v.bot_id = u.bot_id and v.user_id = u.user_id and (u.decisions is not null or clock_change is not null)
  ),
  milestones_counted as (
    insert into ad_milestones (bot_id, campaign_id, creative_id, milestone, reason, audience, occurred_at)
    select bot_id, campaign_id, creative_id, passed.milestone, passed.reason, audience, now
    from unchanged, unnest(milestones, milestone_reasons) as passed (milestone, reason) where not is_test
  )`;
}

/**
 * Decides and stores changes, no two of one viewer: facts are read, `settleView` decides, one statement writes. A change whose
 * facts are no longer true is not stored: its outcome is "changed".
 */
export async function storeChanges(
  database: Transaction,
  changes: readonly ViewChange[],
  slots: number,
): Promise<MadeEvents<ChangeOutcome[]>> {
  const facts = await readViewers(database, changes);
  const outcomes = changes.map((): ChangeOutcome => ({ outcome: "changed" }));
  const toWrite: (DecidedChange & { index: number })[] = [];
  for (const [index, change] of changes.entries()) {
    const decision = decide(change, facts[index]);
    if (decision?.outcome === "limited" || decision?.outcome === "bot-suspended") outcomes[index] = decision;
    else if (decision) toWrite.push({ change, decision, facts: facts[index], index });
  }
  if (toWrite.length === 0) return { result: outcomes, areWaiting: false, claimed: [] };
  const rows = toWrite.map(changeRowOf);
  const events = new Map(rows.map((row) => [row.event_id, row]));
  const claimed: ClaimedEvent[] = [];
  let areWaiting = false;
  for (const row of await database.run(record, [...changeRows.values(rows), slots])) {
    switch (row.kind) {
      case "stored": {
        const written = toWrite[row.position ?? -1];
        if (written) outcomes[written.index] = storedOutcome(written);
        break;
      }
      case "claimed":
        claimed.push(claimedEventOf(row, events.get(row.eventId)));
        break;
      case "waiting":
        areWaiting = true;
        break;
      default:
        row.kind satisfies never;
    }
  }
  return { result: outcomes, areWaiting, claimed };
}

/** Undefined if a start or an end has no facts: the view has changed, or was withdrawn. */
function decide(change: ViewChange, facts: ViewerFacts | undefined): ViewDecision | undefined {
  if (facts) return settleView(change, facts);
  const { isStart, ending, charge } = change;
  return isStart || ending !== undefined || charge !== undefined ? undefined : { outcome: "continues" };
}

function storedOutcome({ change, decision }: DecidedChange): ChangeOutcome {
  const limitReason = "reason" in decision ? decision.reason : null;
  return { outcome: "stored", view: viewAfter(change, decision), limitReason };
}
