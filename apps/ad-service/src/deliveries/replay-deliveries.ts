import { newEventId } from "@intermission/ad-core/code";
import type { ReplayScope } from "@intermission/operator-api/deliveries";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { DeliveryMode } from "../bots/bots.ts";
import { webhooksKeptSince } from "../retention/describe-retention.ts";
import { type BlockedReason, endpointBlockedReason, endpointNotBefore } from "./blocked-reason.ts";
import type { Deliveries } from "./enqueue-webhook.ts";
import { isNoLongerKept } from "./read-deliveries.ts";

export type ReplayDeliveryOutcome =
  /** Due now; sent immediately, or after `notBefore` if its endpoint is in backoff until then. */
  | { outcome: "replayed"; notBefore: Date | null }
  | { outcome: "under-way" }
  /** Nothing is sent to its endpoint now. */
  | { outcome: "held"; blockedReason: BlockedReason }
  /** Test events are not replayed; make a new test instead. */
  | { outcome: "test" }
  | { outcome: "not-kept" }
  | { outcome: "unknown-event" };

/**
 * SQL for the state that a delivery returns to if its replay fails; needs `deliveries` and `bots`. A waiting delivery of an
 * at-most-once bot must not return to waiting, where it is sent automatically: the replay is its one attempt, made early.
 */
const resumeState = `case
    when deliveries.state in ('delivered', 'unknown') then deliveries.state
    when deliveries.state = 'waiting' and delivery_mode = 'at-least-once' then 'waiting'
    when deliveries.state = 'held' then resume_state
  end`;

/**
 * The changes that a replay makes to a delivery; `before` names its previous row. A waiting, delivered or unknown delivery
 * keeps its schedule: it gets one more attempt, and returns to its previous state if that fails. A failed one starts a new
 * schedule. A bulk replay is sent after new events, unless it waited for its next attempt: then it is sent with them.
 */
const replayChanges = (before: string, { isBulk }: { isBulk: boolean }) => `
      state = 'waiting', due_at = now(), is_bulk = ${isBulk} and ${before}.state <> 'waiting', finished_at = null,
      schedule_step = case ${before}.state when 'failed' then 0 else schedule_step end,
      end_reason = case ${before}.state when 'failed' then null else end_reason end,
      resume_state = ${before}.resumes_as,
      resume_due_at = case when ${before}.state = 'held' then deliveries.resume_due_at
        when ${before}.resumes_as = 'waiting' then ${before}.due_at end`;

// `judged` uses the locked row. Reading the state again would read this statement's older snapshot.
const replay = statement<{
  outcome: Exclude<ReplayDeliveryOutcome["outcome"], "unknown-event" | "not-kept">;
  blockedReason: BlockedReason | null;
  notBefore: Date | null;
}>(
  "deliveries.replay-one",
  `with found as (
    select deliveries.bot_id, event_id, deliveries.state, due_at, resume_state, events.is_test, ${resumeState} as resumes_as,
      ${endpointBlockedReason} as blocked_reason, ${endpointNotBefore} as not_before
    from deliveries join events using (bot_id, event_id) join bots using (bot_id) left join endpoints using (bot_id)
    where deliveries.bot_id = $1 and event_id = $2 and not is_erased
    for update of deliveries
  ),
  judged as (
    select found.*, case
      when is_test then 'test'
      when state = 'sending' or state = 'waiting' and resume_state is not null then 'under-way'
      when blocked_reason is not null then 'held'
      else 'replayed'
    end as outcome
    from found
  ),
  hurried as (
    update deliveries set is_bulk = false from judged
    where deliveries.bot_id = judged.bot_id and deliveries.event_id = judged.event_id and is_bulk and judged.state = 'waiting'
      and (outcome = 'under-way' or outcome = 'replayed' and judged.due_at <= now())
  ),
  replayed as (
    update deliveries set ${replayChanges("judged", { isBulk: false })}
    from judged
    where outcome = 'replayed' and deliveries.bot_id = judged.bot_id and deliveries.event_id = judged.event_id
      -- A delivery that is already due is sent anyway, and no longer behind new events; a replay would send it twice.
      and not (judged.state = 'waiting' and judged.due_at <= now())
  )
  select outcome, blocked_reason as "blockedReason", not_before as "notBefore" from judged`,
);

/** Sends one event again, with the same id and the same bytes. */
export async function replayDelivery(
  { database, deliveries }: { database: Database; deliveries: Deliveries },
  { botId, eventId, author }: { botId: string; eventId: string; author?: Author | undefined },
): Promise<ReplayDeliveryOutcome> {
  const row = await database.transaction(async (tx) => {
    const change = await openChange(tx, author, eventId);
    const [judged] = await tx.run(replay, [botId, eventId]);
    if (judged?.outcome === "replayed") await audit(tx, change);
    return judged;
  });
  if (!row) return { outcome: (await isNoLongerKept(database, { botId, eventId })) ? "not-kept" : "unknown-event" };
  if (row.outcome === "held") {
    if (row.blockedReason === null) throw new Error(`${eventId} is held without a blocked reason`);
    return { outcome: "held", blockedReason: row.blockedReason };
  }
  if (row.outcome !== "replayed") return { outcome: row.outcome };
  deliveries.wake();
  return { outcome: "replayed", notBefore: row.notBefore };
}

interface ReplayRange {
  botId: string;
  scope: ReplayScope;
  /** When the events were earned, both ends included. */
  since: Date;
  until: Date;
}

/**
 * SQL for the rows of a range in id order; `is_replayable` is whether the row is to be sent again. Parameters: $1 bot id, $2 and
 * $3 the ids after which the range begins and with which it ends, $4 the maximum number of rows.
 *
 * Unknown deliveries are sent again only individually: the receiver may have rewarded them, and may not dedupe. Held ones
 * are sent automatically, those in flight are already being sent, and tests are not events.
 */
const replayableDeliveries = (scope: ReplayScope, locking = "") => `
    select deliveries.bot_id, event_id, deliveries.state, due_at,
      ${replayable[scope]} and not events.is_test and not is_erased as is_replayable, ${resumeState} as resumes_as
    from deliveries join events using (bot_id, event_id) join bots using (bot_id)
    where deliveries.bot_id = $1 and event_id > $2 and event_id <= $3 ${within[scope]}
    order by event_id limit $4 ${locking}`;

// The literal lets the planner use the partial index.
const within = { failed: "and deliveries.state in ('failed', 'unknown')", everything: "" };
const replayable = {
  failed: "deliveries.state = 'failed'",
  everything: `(deliveries.state in ('failed', 'delivered')
        or deliveries.state = 'waiting' and resume_state is null and due_at > now())`,
};

/** Event ids begin with the millisecond of their event, so a time range is an id range: start excluded, end included. */
function idsBetween({ since, until }: { since: Date; until: Date }): [after: string, last: string] {
  return [lastIdOf(since.getTime() - 1), lastIdOf(until.getTime())];
}

function lastIdOf(milliseconds: number): string {
  return newEventId(Math.max(0, milliseconds), new Uint8Array(10).fill(255));
}

/** Rows read by one call: few enough not to delay other work. */
const REPLAY_BATCH = 1000;

export type ReplayRefusal =
  | { outcome: "unknown-bot" }
  /** Nothing is sent to its endpoint now. */
  | { outcome: "held"; blockedReason: BlockedReason }
  /** Its receiver may not dedupe: delivered events are sent again only individually. */
  | { outcome: "at-most-once" };

type ReplayDeliveriesOutcome =
  /** `next` continues after this batch; null: the range is done. */
  { outcome: "replayed"; replayed: number; next: string | null } | ReplayRefusal;

const readBot = statement<{ deliveryMode: DeliveryMode; blockedReason: BlockedReason | null }>(
  "deliveries.may-replay",
  `select delivery_mode as "deliveryMode", ${endpointBlockedReason} as "blockedReason"
   from bots left join endpoints using (bot_id) where bots.bot_id = $1`,
);

// Locked rows are skipped: two batches that wait for each other's rows would deadlock.
const replayOf = (scope: ReplayScope) =>
  statement<{ replayed: number; lookedAt: number; last: string | null }>(
    `deliveries.replay-${scope}`,
    `with looked_at as (${replayableDeliveries(scope, "for update of deliveries skip locked")}),
    replayed as (
      update deliveries set ${replayChanges("looked_at", { isBulk: true })}
      from looked_at
      where is_replayable and deliveries.bot_id = looked_at.bot_id and deliveries.event_id = looked_at.event_id
      returning 1
    )
    select (select count(*) from replayed) as replayed, count(*) as "lookedAt", max(event_id) as last from looked_at`,
  );
const replays = { failed: replayOf("failed"), everything: replayOf("everything") };

/** Why events of this bot cannot be sent again in bulk; undefined: they can. */
export async function replayRefusal(
  database: Database,
  { botId, scope }: Pick<ReplayRange, "botId" | "scope">,
): Promise<ReplayRefusal | undefined> {
  const [bot] = await database.run(readBot, [botId]);
  if (!bot) return { outcome: "unknown-bot" };
  if (scope === "everything" && bot.deliveryMode === "at-most-once") return { outcome: "at-most-once" };
  return bot.blockedReason === null ? undefined : { outcome: "held", blockedReason: bot.blockedReason };
}

/** Sends the first 1000 events of a range after `after` again, each as `replayDelivery` does, but behind new events. */
export async function replayDeliveries(
  { database, deliveries }: { database: Database; deliveries: Deliveries },
  { after, author, ...range }: ReplayRange & { after?: string | undefined; author?: Author | undefined },
): Promise<ReplayDeliveriesOutcome> {
  const refusal = await replayRefusal(database, range);
  if (refusal) return refusal;
  const [first, last] = idsBetween(range);
  const row = await database.transaction(async (tx) => {
    const change = await openChange(tx, author, range.botId);
    const [replayed] = await tx.run(replays[range.scope], [range.botId, after ?? first, last, REPLAY_BATCH]);
    if (replayed !== undefined && replayed.replayed > 0) await audit(tx, change);
    return replayed;
  });
  if (!row) throw new Error("the replay query returned no row");
  if (row.replayed > 0) deliveries.wake();
  return { outcome: "replayed", replayed: row.replayed, next: row.lookedAt < REPLAY_BATCH ? null : row.last };
}

const MAX_LOOKED_AT = 10_000;

const countOf = (scope: ReplayScope) =>
  statement<{ count: number; unknown: number; lookedAt: number }>(
    `deliveries.count-replayable-${scope}`,
    `with looked_at as (${replayableDeliveries(scope)})
    select count(*) filter (where is_replayable) as count, count(*) filter (where state = 'unknown') as unknown,
      count(*) as "lookedAt"
    from looked_at`,
  );
const counts = { failed: countOf("failed"), everything: countOf("everything") };

interface ReplayCount {
  count: number;
  /** Deliveries of the range in the state `unknown`, which a replay leaves out. */
  unknown: number;
  /** The range has more rows than were read: the counts are lower bounds. */
  isMore: boolean;
  /** Webhooks of events before this moment are no longer kept; null: the range has no such events. */
  keptSince: Date | null;
}

/** How many deliveries a replay of this range would send again. Counts within the first 10,000 rows. */
export async function countReplayable(database: Database, range: ReplayRange): Promise<ReplayCount> {
  const [row] = await database.run(counts[range.scope], [range.botId, ...idsBetween(range), MAX_LOOKED_AT + 1]);
  if (!row) throw new Error("the count of replayable deliveries returned no row");
  const since = await webhooksKeptSince(database);
  const keptSince = since > range.since ? since : null;
  return { count: row.count, unknown: row.unknown, isMore: row.lookedAt > MAX_LOOKED_AT, keptSince };
}
