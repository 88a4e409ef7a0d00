import type { EventType } from "@intermission/ad-core/client-api";
import type { ColumnType, Generated } from "kysely";

/** Events and deliveries are written by plain SQL statements; the query builder only reads them. */
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
    state: Read<"waiting" | "sending" | "delivered" | "failed" | "held" | "unknown">;
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
    end_reason: Read<"attempts-used-up" | "at-most-once" | "held-too-long" | "test" | "erased" | null>;
  };
  /** One row for each bot with a webhook address. Health is written with each batch of attempts. */
  endpoints: {
    bot_id: string;
    url: string;
    state: "pending" | "active" | "disabled";
    state_since: Generated<Date>;
    disabled_reason: "operator" | "gone" | "failing" | null;
    max_in_flight: Generated<number>;
    /** Claims that were recorded, released or taken back, over all nodes: `endpoint_claims.claimed` less these is in flight. */
    ended: Generated<number>;
    rest_until: Generated<Date | number>;
    breaker: Generated<"closed" | "open" | "half-open">;
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
