import { type Selectable, sql } from "kysely";
import type { AdDatabase } from "../ad-database.ts";
import { type BlockedReason, endpointBlockedReason, endpointNotBefore } from "./blocked-reason.ts";
import { findBotOfEvent } from "./find-bot-of-event.ts";
import { type ListedDelivery, listedDelivery } from "./list-deliveries.ts";
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
  /** The endpoint's answer, or the error. */
  responseText: string | null;
  nextAt: Date | null;
  /** Requested explicitly, outside the schedule. */
  isReplay: boolean;
}

export interface ShownDelivery extends ListedDelivery {
  /** Set while a replay is pending: the state that the delivery returns to if the replay fails. */
  resumeState: "waiting" | "delivered" | "unknown" | null;
  /** Why nothing is sent to the endpoint now; null: due deliveries are sent. */
  blockedReason: BlockedReason | null;
  /** Until when the endpoint rests or its breaker allows no probe; null: neither. */
  notBefore: Date | null;
  /** The bytes that each attempt sends, as text. */
  body: string;
  log: DeliveryAttempt[];
}

/** One delivery with every attempt, oldest first; undefined when no event has this id. */
export async function showDelivery(
  database: AdDatabase,
  { eventId }: { eventId: string },
): Promise<ShownDelivery | undefined> {
  const botId = await findBotOfEvent(database, eventId);
  if (botId === undefined) return undefined;
  const row = await database.query
    .selectFrom("deliveries")
    .innerJoin("events", (join) =>
      join.onRef("events.bot_id", "=", "deliveries.bot_id").onRef("events.event_id", "=", "deliveries.event_id"),
    )
    .leftJoin("endpoints", "endpoints.bot_id", "deliveries.bot_id")
    .selectAll("deliveries")
    .select(["events.event", "events.user_id", "events.is_test", "events.body"])
    .select(sql.raw<BlockedReason | null>(endpointBlockedReason).as("blockedReason"))
    .select(sql.raw<Date | null>(endpointNotBefore).as("not_before"))
    .where("deliveries.bot_id", "=", botId)
    .where("deliveries.event_id", "=", eventId)
    .executeTakeFirst();
  if (!row) return undefined;
  const attempts = await database.query
    .selectFrom("delivery_attempts")
    .selectAll()
    .where("bot_id", "=", botId)
    .where("event_id", "=", eventId)
    .orderBy("attempt")
    .execute();
  return {
    ...listedDelivery(row),
    resumeState: row.state === "waiting" || row.state === "sending" || row.state === "held" ? row.resume_state : null,
    blockedReason: row.blockedReason,
    notBefore: row.not_before,
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
    isReplay: row.is_replay,
  };
}
