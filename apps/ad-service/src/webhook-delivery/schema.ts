import type { EventType } from "@intermission/ad-core/client-api";
import type { ColumnType } from "kysely";

export type DeliveryState = "waiting" | "sending" | "delivered" | "failed" | "held" | "unknown";

/** Event, delivery and attempts are written by hot statements; the builder only reads them. */
type Read<Value> = ColumnType<Value, never, never>;

export interface WebhookDeliveryTables {
  events: {
    bot_id: Read<string>;
    event_id: Read<string>;
    event: Read<EventType>;
    user_id: Read<string>;
    code: Read<string | null>;
    reference: Read<string | null>;
    is_test: Read<boolean>;
    occurred_at: Read<Date>;
    /** The text that is signed and sent, on each attempt the same. */
    body: Read<string>;
    /** `xid8` of the transaction that made it: the order of the feed. */
    xid: Read<string>;
  };
  deliveries: {
    bot_id: Read<string>;
    event_id: Read<string>;
    state: Read<DeliveryState>;
    /** Attempts made, the one under way included. */
    attempts: Read<number>;
    due_at: Read<Date>;
    lease_until: Read<Date | null>;
    /** Grows with each claim; only the claim that holds the newest number may finish. */
    fence: Read<number>;
    created_at: Read<Date>;
    finished_at: Read<Date | null>;
  };
  delivery_attempts: {
    bot_id: Read<string>;
    event_id: Read<string>;
    attempt: Read<number>;
    started_at: Read<Date>;
    url: Read<string>;
    address: Read<string | null>;
    status: Read<number | null>;
    error_class: Read<string | null>;
    /** Name look-up, TCP and TLS together; next to nothing on a connection that stood. */
    connect_ms: Read<number | null>;
    first_byte_ms: Read<number | null>;
    total_ms: Read<number | null>;
    response_text: Read<string | null>;
    next_at: Read<Date | null>;
  };
}
