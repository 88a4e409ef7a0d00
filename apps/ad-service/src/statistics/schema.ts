import type { ColumnType } from "kysely";

/** Written by plain SQL statements; the query builder only reads them. */
type Read<Value> = ColumnType<Value, never, never>;

export interface StatisticsTables {
  /** The outcome of each ad request. */
  ad_requests: {
    bot_id: Read<string>;
    user_id: Read<string>;
    code: Read<string | null>;
    outcome: Read<"filled" | "no-ad" | "limited" | "refused">;
    reason: Read<string>;
    occurred_at: Read<Date>;
  };
  stats_hours: {
    bot_id: Read<string>;
    hour: Read<Date>;
    /** Empty if there is none. */
    campaign_id: Read<string>;
    creative_id: Read<string>;
    measure: Read<string>;
    reason: Read<string>;
    count: Read<number>;
    spend_micros: Read<number>;
    revenue_micros: Read<number>;
  };
  stats_progress: {
    source: Read<string>;
    xid: Read<string>;
    /** Every row that was committed before this moment is in the sums. */
    counted_until: Read<Date>;
  };
}
