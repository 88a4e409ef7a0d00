import type { DeliveryState } from "@intermission/ad-core/wire-fields";
import type { DeliveryAttempt, ListedDelivery, ShownDelivery } from "@intermission/operator-api/deliveries";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { HttpError } from "@intermission/server/http-server";
import { gone, notFound } from "@intermission/server/refuse";
import { webhooksKeptSince } from "../retention/describe-retention.ts";
import { endpointBlockedReason, endpointNotBefore } from "./blocked-reason.ts";

/** `dueAt` and `endReason` as stored, in every state. */
type DeliveryRow = Omit<ListedDelivery, "dueAt"> & { dueAt: Date };

const deliveryColumns = `deliveries.bot_id as "botId", deliveries.event_id as "eventId", events.event, events.user_id as "userId",
    events.is_test as "isTest", deliveries.state, deliveries.attempts, deliveries.due_at as "dueAt",
    deliveries.created_at as "createdAt", deliveries.finished_at as "finishedAt", deliveries.end_reason as "endReason"`;

/*
 * Reads one page of each bot by its index, then the newest of these: the cost does not depend on the number of events.
 * The state is a literal, so that the planner can use a partial index. "f" sorts after every event id.
 */
const listOf = (state: DeliveryState | "any") =>
  statement<DeliveryRow>(
    `deliveries.list-${state}`,
    `select ${deliveryColumns}
    from (
      select of_bot.* from bots cross join lateral (
        select * from deliveries
        where deliveries.bot_id = bots.bot_id and event_id < coalesce($2, 'f')
          ${state === "any" ? "" : `and state = '${state}'`}
        order by event_id desc limit $3
      ) as of_bot
      where $1::text is null or bots.bot_id = $1
      order by of_bot.event_id desc limit $3
    ) as deliveries join events using (bot_id, event_id)
    order by deliveries.event_id desc`,
  );

const lists = {
  any: listOf("any"),
  waiting: listOf("waiting"),
  sending: listOf("sending"),
  delivered: listOf("delivered"),
  failed: listOf("failed"),
  held: listOf("held"),
  unknown: listOf("unknown"),
};

/** Newest first: event ids begin with their time. `before` is the last event id of the previous page. */
export async function listDeliveries(
  database: Pick<Database, "run">,
  filter: { botId?: string | undefined; state?: DeliveryState | undefined; before?: string | undefined; limit: number },
): Promise<ListedDelivery[]> {
  const { botId = null, state = "any", before = null, limit } = filter;
  const rows = await database.run(lists[state], [botId, before, limit]);
  return rows.map(listedDelivery);
}

/** A delivery with the fields of its event, as an operator sees it. */
function listedDelivery(row: DeliveryRow): ListedDelivery {
  const isOver = row.state === "failed" || row.state === "unknown";
  return {
    botId: row.botId,
    eventId: row.eventId,
    event: row.event,
    userId: row.userId,
    isTest: row.isTest,
    state: row.state,
    attempts: row.attempts,
    dueAt: row.state === "waiting" ? row.dueAt : null,
    createdAt: row.createdAt,
    finishedAt: row.finishedAt,
    endReason: isOver ? row.endReason : null,
  };
}

const show = statement<
  DeliveryRow & { body: string } & Pick<ShownDelivery, "resumeState" | "blockedReason" | "notBefore">
>(
  "deliveries.show",
  `select ${deliveryColumns}, event_bodies.body,
    case when deliveries.state in ('waiting', 'sending', 'held') then resume_state end as "resumeState",
    ${endpointBlockedReason} as "blockedReason", ${endpointNotBefore} as "notBefore"
  from deliveries join events using (bot_id, event_id) join event_bodies using (bot_id, event_id) left join endpoints using (bot_id)
  where deliveries.bot_id = $1 and event_id = $2`,
);

/** Far more than a schedule has; replays have no limit. */
const MAX_SHOWN_ATTEMPTS = 200;

const readAttempts = statement<DeliveryAttempt>(
  "deliveries.attempts",
  `select attempt, started_at as "startedAt", url, address, status, error_class as "errorClass",
    dns_ms as "dnsMs", tcp_ms as "tcpMs", tls_ms as "tlsMs", first_byte_ms as "firstByteMs", total_ms as "totalMs",
    response_text as "responseText", next_at as "nextAt", is_replay as "isReplay"
  from delivery_attempts where bot_id = $1 and event_id = $2 order by attempt desc limit ${MAX_SHOWN_ATTEMPTS}`,
);

/** One delivery with its latest attempts, oldest first; undefined when no event of the bot has this id, or its delivery is no longer kept. */
export async function showDelivery(
  database: Pick<Database, "run">,
  { botId, eventId }: { botId: string; eventId: string },
): Promise<ShownDelivery | undefined> {
  const [row] = await database.run(show, [botId, eventId]);
  if (!row) return undefined;
  return {
    ...listedDelivery(row),
    resumeState: row.resumeState,
    blockedReason: row.blockedReason,
    notBefore: row.notBefore,
    body: row.body,
    log: (await database.run(readAttempts, [botId, eventId])).toReversed(),
  };
}

const find = statement<{ botId: string }>(
  "events.bot-of-event",
  `select bot_id as "botId" from events where event_id = $1`,
);

/** The bot of an event, for an operator who knows only the event's id. */
export async function findBotOfEvent(database: Pick<Database, "run">, eventId: string): Promise<string | undefined> {
  const [row] = await database.run(find, [eventId]);
  return row?.botId;
}

const findWithoutDelivery = statement<object>(
  "events.without-delivery",
  `select from events where bot_id = $1 and event_id = $2 and not is_erased and not exists (
     select from deliveries where deliveries.bot_id = $1 and deliveries.event_id = $2)`,
);

/** Whether a bot has this event, and its webhook is no longer kept. */
export async function isNoLongerKept(
  database: Pick<Database, "run">,
  { botId, eventId }: { botId: string; eventId: string },
): Promise<boolean> {
  return (await database.run(findWithoutDelivery, [botId, eventId])).length > 0;
}

/** For the operator: an event that has no delivery. */
export async function noDeliveryOf(
  database: Pick<Database, "run">,
  { botId, eventId }: { botId: string; eventId: string },
): Promise<HttpError> {
  if (!(await isNoLongerKept(database, { botId, eventId }))) return unknownEvent(eventId);
  const since = (await webhooksKeptSince(database)).toISOString();
  return gone(
    "NOT_KEPT",
    `the webhook of ${eventId} is no longer kept, only those of events since ${since}; the event is in: events list --bot-id ${botId}`,
    { since: since.slice(0, 10) },
  );
}

export function unknownEvent(eventId: string): HttpError {
  return notFound(`there is no event ${eventId}; see the latest with: deliveries list`);
}
