import type { ColumnType } from "kysely";
import type { ClickSuspicion } from "./click-signals.ts";

/** Clicks are written by hot statements; the builder only reads them. */
type Read<Value> = ColumnType<Value, never, never>;

export interface DirectLinkTables {
  /** Clicks that earned nothing; those that did are `events`. */
  withheld_clicks: {
    bot_id: Read<string>;
    /** `clk_` + UUIDv7; the macro `{click_id}` of the landing page. */
    click_id: Read<string>;
    code: Read<string>;
    user_id: Read<string>;
    campaign_id: Read<string | null>;
    /** `held`, `refused` or `released` (they looked wrong), or why the visit was refused. */
    outcome: Read<string>;
    user_agent: Read<string>;
    /** Keyed by a key of the day: equal addresses can be told within a day, and never again. */
    address_hash: Read<Buffer | null>;
    occurred_at: Read<Date>;
    /** Of /24 or /48, keyed like `address_hash`; of those that looked wrong. */
    network_hash: Read<Buffer | null>;
    suspicions: Read<ClickSuspicion[]>;
    /** By the operator: a held click was released or refused. */
    decided_at: Read<Date | null>;
  };
  /** What one address did on one day: its limits are decided under the lock of this row. */
  address_days: {
    address_hash: Read<Buffer>;
    day: Read<string>;
    clicks: Read<Date[]>;
    counted: Read<number>;
    tapped: Read<number>;
    devices: Read<string[]>;
  };
  /** Refused visits of a code, counted; the first few of each reason stand in `withheld_clicks`, too. */
  click_refusals: {
    bot_id: Read<string>;
    code: Read<string>;
    reason: Read<string>;
    hour: Read<Date>;
    count: Read<number>;
    /** Of `count`, what the statistics hold. */
    summed: Read<number>;
    is_summed: Read<boolean>;
  };
}
