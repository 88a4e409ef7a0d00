import type { ColumnType } from "kysely";

/** Hot statements write the clicks; the query builder only reads them. */
type Read<Value> = ColumnType<Value, never, never>;

export interface DirectLinkTables {
  /** Clicks that earned nothing; those that earned are `events`. */
  withheld_clicks: {
    bot_id: Read<string>;
    /** `clk_` + UUIDv7; the macro `{click_id}` of the landing page. */
    click_id: Read<string>;
    code: Read<string>;
    user_id: Read<string>;
    campaign_id: Read<string | null>;
    /** `held`, `refused` or `released` (suspicious clicks), or why the visit was refused. */
    outcome: Read<string>;
    user_agent: Read<string>;
    /** Hashed with a key of the day: equal addresses can be recognised within a day, and never again. */
    address_hash: Read<Buffer | null>;
    occurred_at: Read<Date>;
    /** Of the /24 or /48, keyed like `address_hash`; set for suspicious clicks. */
    network_hash: Read<Buffer | null>;
    suspicions: Read<string[]>;
    /** When the operator released or refused a held click. */
    decided_at: Read<Date | null>;
  };
  /** The clicks of one address on one day: its limits are decided under the lock of this row. */
  address_days: {
    day: Read<string>;
    address_hash: Read<Buffer>;
    clicks: Read<Date[]>;
    counted: Read<number>;
    tapped: Read<number>;
    devices: Read<string[]>;
  };
  network_days: {
    day: Read<string>;
    network_hash: Read<Buffer>;
    counted: Read<number>;
    is_crowded: Read<boolean>;
    users: Read<number[]>;
  };
  /** Refused visits of a code, counted; the first few of each reason are also in `withheld_clicks`. */
  click_refusals: {
    bot_id: Read<string>;
    code: Read<string>;
    reason: Read<string>;
    hour: Read<Date>;
    count: Read<number>;
    /** The part of `count` that the statistics already contain. */
    summed: Read<number>;
    is_summed: Read<boolean>;
  };
}
