import type { Selectable } from "kysely";
import type { AdDatabase } from "../ad-database.ts";
import type { ListedDelivery } from "./list-deliveries.ts";
import type { WebhookDeliveryTables } from "./schema.ts";

export interface DeliveryAttempt {
  attempt: number;
  startedAt: Date;
  url: string;
  address: string | null;
  status: number | null;
  errorClass: string | null;
  dnsMs: number | null;
  tcpMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  totalMs: number | null;
  /** What the endpoint answered, or what went wrong. */
  responseText: string | null;
  nextAt: Date | null;
}

export interface ShownDelivery extends ListedDelivery {
  /** The bytes that each attempt sends, as text. */
  body: string;
  log: DeliveryAttempt[];
}

/** One delivery with every attempt, oldest first; undefined when no event has this id. */
export async function showDelivery(
  database: AdDatabase,
  { eventId }: { eventId: string },
): Promise<ShownDelivery | undefined> {
  const row = await database.query
    .selectFrom("deliveries")
    .innerJoin("events", (join) =>
      join.onRef("events.bot_id", "=", "deliveries.bot_id").onRef("events.event_id", "=", "deliveries.event_id"),
    )
    .selectAll("deliveries")
    .select(["events.event", "events.user_id", "events.body"])
    .where("deliveries.event_id", "=", eventId)
    .executeTakeFirst();
  if (!row) return undefined;
  const attempts = await database.query
    .selectFrom("delivery_attempts")
    .selectAll()
    .where("bot_id", "=", row.bot_id)
    .where("event_id", "=", eventId)
    .orderBy("attempt")
    .execute();
  return {
    botId: row.bot_id,
    eventId: row.event_id,
    event: row.event,
    userId: row.user_id,
    state: row.state,
    attempts: row.attempts,
    dueAt: row.state === "waiting" ? row.due_at : null,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    body: row.body,
    log: attempts.map(attemptOf),
  };
}

function attemptOf(row: Selectable<WebhookDeliveryTables["delivery_attempts"]>): DeliveryAttempt {
  return {
    attempt: row.attempt,
    startedAt: row.started_at,
    url: row.url,
    address: row.address,
    status: row.status,
    errorClass: row.error_class,
    dnsMs: row.dns_ms,
    tcpMs: row.tcp_ms,
    tlsMs: row.tls_ms,
    firstByteMs: row.first_byte_ms,
    totalMs: row.total_ms,
    responseText: row.response_text,
    nextAt: row.next_at,
  };
}
