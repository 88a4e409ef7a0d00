import type { DeliveryMode } from "../bots/bots.ts";

/** An event that the statement that made it has claimed for this node: a row of `claimed_events` with the event's bytes. */
export interface ClaimedEvent {
  botId: string;
  eventId: string;
  body: string;
  url: string;
  deliveryMode: DeliveryMode;
  /** The event's, which the deliveries continue; null where nothing is traced. */
  traceparent: string | null;
}

/** What a statement wrote of an event; null or undefined where a row made none. */
interface Written {
  bot_id: string;
  event_id?: string | null | undefined;
  body?: string | null | undefined;
  traceparent?: string | null | undefined;
}

/** A row of `claimed_events`, as the statement that made the events returns it, with what was written of its event. */
export function claimedEventOf(
  { url, deliveryMode }: { url: string | null; deliveryMode: DeliveryMode | null },
  written: Written | undefined,
): ClaimedEvent {
  if (!written?.body || !written.event_id || url === null || deliveryMode === null)
    throw new Error("a claimed event was made by no row of this batch");
  const { bot_id: botId, event_id: eventId, body, traceparent = null } = written;
  return { botId, eventId, body, url, deliveryMode, traceparent };
}

/** The result of a statement with `enqueueWebhook`. */
export interface MadeEvents<Result> {
  result: Result;
  /** Whether some events are neither claimed nor held, and so wait for the loop. */
  areWaiting: boolean;
  /** Rows of `claimed_events`. */
  claimed: readonly ClaimedEvent[];
}

/** The sending side of a node, for code that makes events or changes what may be sent. */
export interface Deliveries {
  /**
   * Runs `make` with the number of events that it may claim, then sends the claimed events and wakes the loop for the rest.
   * `make` makes at most `maxEvents` events in one statement that commits alone. Each run needs a `sendNew` call of its own, since
   * the claims' leases must begin after the call. A claim locks its endpoint until the commit, so transactions of several
   * statements claim nothing and call `wake()`.
   */
  sendNew<Result>(maxEvents: number, make: (slots: number) => Promise<MadeEvents<Result>>): Promise<Result>;
  /** Call after a commit that may have made a delivery due. Cheap, and only a hint: the loops of all nodes also poll. */
  wake(): void;
}

/** For a process that sends nothing: the nodes send its events. */
export const noDeliveries: Deliveries = {
  async sendNew(_maxEvents, make) {
    return (await make(0)).result;
  },
  wake() {},
};

/** Log of what an operator should know about deliveries. */
export interface DeliveryLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

const columns = [
  "bot_id",
  "event_id",
  "event",
  "user_id",
  "code",
  "reference",
  "is_test",
  "campaign_id",
  "creative_id",
  "price_micros",
  "revenue_micros",
  "occurred_at",
];

interface Enqueued {
  from: string;
  slots?: string;
  /** `from` has a traceparent: that of the request which earned the event, or null. */
  isTraced?: boolean;
  /** The statement has made sure, under a lock of each event's viewer, that none of these events exists. */
  existenceChecked?: boolean;
  /** `from` may have events without a body: nothing is sent of them. */
  maySayNothing?: boolean;
  /** More columns of `events` that `from` has. */
  more?: readonly string[];
}

/** Longer than a node needs to begin and finish an exchange. After it, any other node may send the delivery. */
export const LEASE_SECONDS = 30;

/**
 * The only way to make an event: CTEs for the statement that changes the state, so that the change, the event and what the
 * campaign owes commit together.
 *
 * `from` names an earlier CTE of the statement with the columns bot_id, event_id, event, user_id, code, reference (null
 * without one), is_test, campaign_id, creative_id, price_micros and revenue_micros (null where nothing was sold), occurred_at
 * and body (text made by `encodeWebhookEvent`). The CTE `enqueued` contains the events made: a code that has already earned
 * this event is left out. With `existenceChecked` all of `from` are made, an event that exists is an error, and there is no `enqueued`.
 *
 * `slots` is how many of them may be claimed for the node that runs the statement: an integer parameter that
 * `deliveries.sendNew` supplies. The CTE `claimed_events` (bot_id, event_id, url, delivery_mode) contains those, for `sendNew`
 * to send. Those of the CTE `enqueued_deliveries` (event_id, state) whose state is 'waiting' wait for the loop; an event whose
 * endpoint is missing or not active is held until that is active, and wakes no loop. Return the rows of both with the statement's own by `union all`: a join of two CTEs compares every
 * pair of rows. Without `slots` nothing is claimed; call `deliveries.wake()` after the commit.
 */
export function enqueueWebhook(enqueued: Enqueued): string {
  const { from, slots, isTraced = false, existenceChecked = false, maySayNothing = false, more = [] } = enqueued;
  const made = existenceChecked ? from : "enqueued";
  const sent = maySayNothing ? "events_sent" : made;
  const names = [...columns, ...more].join(", ");
  const insert = `insert into events (${names}) select ${names} from ${from}`;
  const events = existenceChecked
    ? `events_made as (${insert}),`
    : `enqueued as (${insert} order by bot_id, code, event on conflict do nothing
      returning bot_id, event_id, event, user_id, code, reference, is_test, campaign_id, price_micros, occurred_at),`;
  const ofSentEvents = existenceChecked
    ? ""
    : ` where case when event_id in (select event_id from ${sent}) then true end`;
  const choice = maySayNothing
    ? `events_sent as (select * from enqueued where event_id not in (select event_id from ${from} where body is null and event_id is not null)),`
    : "";
  return `${events}${choice}
    bodies_made as (
      insert into event_bodies (event_id, bot_id, body, traceparent)
      select event_id, bot_id, body, ${isTraced ? "traceparent" : "null"} from ${from}${ofSentEvents}
    ),
    active_endpoints as materialized (
      select bot_id from endpoints where bot_id = any (array(select bot_id from ${sent})) and state = 'active'
    ),
    ${slots === undefined ? "" : claimedEvents(sent, slots)}enqueued_deliveries as (
      insert into deliveries (bot_id, event_id, is_test, state, attempts, fence, lease_until)
      select bot_id, event_id, is_test,
        case when is_claimed then 'sending'
          when bot_id in (select bot_id from active_endpoints) then 'waiting' else 'held' end,
        is_claimed::integer, is_claimed::integer,
        case when is_claimed then clock_timestamp() + interval '${LEASE_SECONDS} seconds' end
      from (
        select bot_id, event_id, is_test, ${slots === undefined ? "false" : "event_id in (select event_id from claimed_events)"} as is_claimed
        from ${sent} offset 0) as made
      returning event_id, state
    ),
    campaign_days_summed as (${addToCampaignDays(made)})`;
}

/** `migrations/0003-claim-new-events.sql` decides for which endpoints. */
const claimedEvents = (made: string, slots: string) => `claimed_events as (
      select * from claim_new_events(array(select bot_id from ${made}), array(select event_id from ${made}), ${slots})
      where exists (select from active_endpoints)
    ),
    `;

/**
 * SQL of a CTE that adds priced events to the sums of their campaigns' UTC days, in the statement that creates the events: a
 * campaign's spend always equals the sum of its events. `from` names a CTE with campaign_id, event, price_micros (null
 * where nothing was sold) and occurred_at. Updates each campaign once per batch, in the order of the ids, so that batches do not deadlock.
 */
function addToCampaignDays(from: string): string {
  return `
    insert into campaign_days (campaign_id, day, views, clicks, spent_micros)
    select campaign_id, (occurred_at at time zone 'utc')::date, count(*) filter (where event in ('rewarded', 'interstitial')),
      count(*) filter (where event = 'direct_link'), sum(price_micros)
    from ${from} where price_micros is not null group by 1, 2 order by 1, 2
    on conflict (campaign_id, day) do update set
      views = campaign_days.views + excluded.views,
      clicks = campaign_days.clicks + excluded.clicks,
      spent_micros = campaign_days.spent_micros + excluded.spent_micros`;
}
