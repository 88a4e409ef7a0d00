import type { EventType } from "@intermission/ad-core/client-api";
import type { ColumnType, Generated } from "kysely";

export type DeliveryState = "waiting" | "sending" | "delivered" | "failed" | "held" | "unknown";

/** Why a delivery that was not answered 2xx is not sent again automatically. */
export type EndReason = "attempts-used-up" | "at-most-once" | "held-too-long" | "test" | "erased";

/** Deliveries are sent only to active endpoints; a pending one must answer a test event 2xx first. */
export type EndpointState = "pending" | "active" | "disabled";

export type DisabledReason = "operator" | "gone" | "failing";

export type BreakerState = "closed" | "open" | "half-open";

/** Events, deliveries and attempts are written by plain SQL statements; the query builder only reads them. */
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
    campaign_id: Read<string | null>;
    creative_id: Read<string | null>;
    /** What the campaign owes; null: nothing was sold. */
    price_micros: Read<number | null>;
    /** Set for clicks only, as the next three. */
    user_agent: Read<string | null>;
    address_hash: Read<Buffer | null>;
    network_hash: Read<Buffer | null>;
    suspicions: Read<string[] | null>;
    /** The user was erased: the event is no longer sent, replayed or listed. */
    is_erased: Read<boolean>;
    occurred_at: Read<Date>;
    /** The text that each attempt signs and sends, always the same. */
    body: Read<string>;
    /** `xid8` of the transaction that made it: the order of the feed. */
    xid: Read<string>;
  };
  deliveries: {
    bot_id: Read<string>;
    event_id: Read<string>;
    state: Read<DeliveryState>;
    /** Attempts made, including one in progress. */
    attempts: Read<number>;
    due_at: Read<Date>;
    lease_until: Read<Date | null>;
    /** Incremented by each claim; only the claim with the newest number may finish. */
    fence: Read<number>;
    created_at: Read<Date>;
    finished_at: Read<Date | null>;
    /** Failures that the schedule counts; those of replays and internal errors do not count. */
    schedule_step: Read<number>;
    /** The claim that was recorded last: each is recorded once. */
    recorded_fence: Read<number>;
    /** Set while a replay is pending: the state that the delivery returns to if the replay fails. */
    resume_state: Read<"waiting" | "delivered" | "unknown" | null>;
    resume_due_at: Read<Date | null>;
    /** Part of a bulk replay and not sent since: it is sent after new events. */
    is_bulk: Read<boolean>;
    end_reason: Read<EndReason | null>;
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
    /** Null where the phase did not happen: a literal address, plain HTTP, a kept connection. */
    dns_ms: Read<number | null>;
    tcp_ms: Read<number | null>;
    tls_ms: Read<number | null>;
    first_byte_ms: Read<number | null>;
    total_ms: Read<number | null>;
    response_text: Read<string | null>;
    next_at: Read<Date | null>;
    is_replay: Read<boolean>;
  };
  /** One row for each bot with a webhook address. Health is written with each batch of attempts. */
  endpoints: {
    bot_id: string;
    url: string;
    state: EndpointState;
    state_since: Generated<Date>;
    disabled_reason: DisabledReason | null;
    max_in_flight: Generated<number>;
    /** Claims that were recorded, released or taken back, over all nodes: `endpoint_claims.claimed` less these is in flight. */
    ended: Generated<number>;
    rest_until: Generated<Date | number>;
    breaker: Generated<BreakerState>;
    probe_at: Generated<Date | number>;
    probe_failures: Generated<number>;
    probe_successes: Generated<number>;
    failures_in_row: Generated<number>;
    window_started_at: Generated<Date | number>;
    window_attempts: Generated<number>;
    window_failures: Generated<number>;
    last_success_at: Date | null;
    last_failure_at: Date | null;
    failing_since: Date | null;
    failures_since_success: Generated<number>;
    warned_percent: Generated<number>;
    gone_since: Date | null;
    gone_event_id: string | null;
    is_gone_for_several: Generated<boolean>;
    last_status: number | null;
    last_error_class: string | null;
    last_answer: string | null;
    test_event_id: string | null;
    test_due_at: Generated<Date>;
    tests: Generated<number>;
    is_tested_for_event: Generated<boolean>;
  };
  /** One row for each endpoint; locked by the statement that claims. */
  endpoint_claims: {
    bot_id: string;
    claimed: Generated<number>;
    last_served_at: Generated<Date>;
  };
}
