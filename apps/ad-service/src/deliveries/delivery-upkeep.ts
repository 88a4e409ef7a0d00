import { type Database, statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import { repairAfterClockJump } from "./after-clock-jump.ts";
import { hasTokens } from "./blocked-reason.ts";
import { watchProcesses } from "./gone-processes.ts";
import { MAX_MOVED, moveDeliveries } from "./move-deliveries.ts";

const FAIL_HELD_EVERY_MS = 60_000;

const LOOK_FOR_GONE_MS = 1000;

/** Sweeps every `sweepMs` and when a process is gone, and each minute ends what was held for too long, in small batches, until it is stopped. */
export function startDeliveryUpkeep(
  database: Database,
  options: {
    sweepMs: number;
    /** For so long a process must not have been connected, before its claims are taken back. */
    goneMs: number;
    /** How often the database's clock has jumped. */
    clockJumps: () => number;
    log: { warn(facts: object, message: string): void; error(facts: object, message: string): void };
    /** Called when deliveries are waiting that could not be sent before. */
    onReleased: () => void;
  },
): BackgroundLoop {
  const { sweepMs, goneMs, clockJumps, log, onReleased } = options;
  const goneProcesses = watchProcesses(database, goneMs);
  let sweepAt = 0;
  let failHeldAt = 0;
  // The first round repairs, too: the clock may have jumped while no node ran.
  let jumpsRepaired = -1;

  async function repair(): Promise<boolean> {
    const jumps = clockJumps();
    if (jumps === jumpsRepaired) return false;
    const { repaired, hasMore } = await repairAfterClockJump(database);
    if (repaired > 0) log.warn({ repaired }, "webhooks that the database's clock had postponed by a jump are due now");
    if (repaired > 0) onReleased();
    if (!hasMore) jumpsRepaired = jumps;
    return hasMore;
  }

  /** Returns whether there is more to do immediately. */
  async function sweep(): Promise<boolean> {
    const gone = await goneProcesses();
    if (gone.length === 0 && performance.now() < sweepAt) return false;
    const { returned, unknown, unheld, held } = await sweepDeliveries(database, gone);
    sweepAt = performance.now() + sweepMs;
    if (returned + unknown > 0) log.warn({ returned, unknown }, "deliveries of a crashed node were taken back");
    if (returned + unheld > 0) onReleased();
    // A sweep that moved this many has more to do.
    const hasMore = Math.max(returned + unknown, unheld, held) >= MAX_MOVED;
    if (hasMore) sweepAt = 0;
    return hasMore;
  }

  async function endOldHeld(): Promise<boolean> {
    if (performance.now() < failHeldAt) return false;
    const { length: expired } = await database.run(failHeld, []);
    if (expired > 0) log.warn({ expired }, "deliveries that were held for 30 days have failed");
    const hasMore = expired >= MAX_FAILED_AT_ONCE;
    if (!hasMore) failHeldAt = performance.now() + FAIL_HELD_EVERY_MS;
    return hasMore;
  }

  return startLoop({
    everyMs: Math.min(sweepMs, LOOK_FOR_GONE_MS),
    round: async () => ([await repair(), await sweep(), await endOldHeld()].includes(true) ? 0 : undefined),
    onFault: (error) => log.error({ err: error }, "the upkeep of deliveries failed; trying again"),
  });
}

/*
 * Takes back claims of crashed nodes, and expired ones: they consume no attempt. For at-most-once bots it is not known whether the
 * event was sent, so it is not sent again. A test fails: no caller waits for its answer any more.
 */
const reap = statement<{ state: string }>(
  "deliveries.reap",
  `with leased as (
    select bot_id, event_id, is_test, resume_state from deliveries
    where deliveries.state = 'sending' and lease_until < case when cardinality($1::integer[]) = 0 then now() else 'infinity' end
      and (lease_until < now() or claimed_by = any ($1::integer[]))
    order by lease_until limit ${MAX_MOVED} for update skip locked
  ),
  expired as (
    select bot_id, event_id, is_test,
      case when is_test then 'failed' when delivery_mode <> 'at-most-once' then 'waiting'
        when resume_state = 'delivered' then 'delivered' else 'unknown' end as next_state
    from leased join bots using (bot_id)
  ),
  reaped as (
    update deliveries set lease_until = null, state = next_state, due_at = now(),
      attempts = attempts - case next_state when 'waiting' then 1 else 0 end,
      finished_at = case next_state when 'waiting' then null else now() end,
      end_reason = case next_state when 'failed' then 'test' when 'unknown' then 'at-most-once' end,
      resume_state = case next_state when 'waiting' then resume_state end
    from expired where deliveries.bot_id = expired.bot_id and deliveries.event_id = expired.event_id
    returning deliveries.bot_id, deliveries.state, deliveries.is_test
  ),
  ended as (select bot_id, count(*) as number from reaped where not is_test group by bot_id order by bot_id),
  freed as (
    update endpoints set ended = endpoints.ended + number from ended where endpoints.bot_id = ended.bot_id
  )
  select state from reaped`,
);

// Repeated, since a statement that began before the endpoint became active can still insert a held event.
const unhold = statement<never>(
  "deliveries.unhold",
  `${moveDeliveries({ to: "waiting", bots: `select bot_id from endpoints where endpoints.state = 'active' and ${hasTokens}` })}
  returning 1`,
);

// Waiting deliveries are sent only to active endpoints; those of other endpoints become held.
const hold = statement<never>(
  "deliveries.hold",
  `${moveDeliveries({
    to: "held",
    bots: `select bot_id from endpoints where state <> 'active'
      union all
      select bot_id from bots where not exists (select from endpoints where endpoints.bot_id = bots.bot_id)`,
  })}
  returning 1`,
);

/** Takes back deliveries after their leases and those of processes that are `gone`; holds those of inactive endpoints and releases held ones of active endpoints. */
export async function sweepDeliveries(
  database: Database,
  gone: readonly number[] = [],
): Promise<{ returned: number; unknown: number; unheld: number; held: number }> {
  const reaped = await database.run(reap, [gone]);
  const unheld = await database.run(unhold, []);
  const held = await database.run(hold, []);
  const unknown = reaped.filter(({ state }) => state === "unknown").length;
  return { returned: reaped.length - unknown, unknown, unheld: unheld.length, held: held.length };
}

const MAX_HELD_DAYS = 30;
/** Small enough not to delay other statements. */
const MAX_FAILED_AT_ONCE = 1000;

const failHeld = statement<never>(
  "deliveries.fail-held",
  `with old as (
    select deliveries.bot_id, event_id from deliveries
    where state = 'held' and created_at < now() - interval '${MAX_HELD_DAYS} days'
    limit ${MAX_FAILED_AT_ONCE} for update skip locked
  )
  update deliveries set resume_state = null, resume_due_at = null, finished_at = coalesce(finished_at, now()),
    -- A replay that was never sent restores the previous state.
    state = case when resume_state in ('delivered', 'unknown') then resume_state else 'failed' end,
    end_reason = case when resume_state in ('delivered', 'unknown') then end_reason else 'held-too-long' end
  from old where deliveries.bot_id = old.bot_id and deliveries.event_id = old.event_id
  returning 1`,
);
