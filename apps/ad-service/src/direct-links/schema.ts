import type { ColumnType } from "kysely";

/** Why a click may not have been a person's, though every limit let it pass: `follow-links.sql` judges them. */
export type ClickSuspicion =
  /** More than five users came from one address with one user agent. */
  | "many-users-of-one-agent"
  /** Ten clicks or more of the address counted on this day, four of five of them by a tap. */
  | "mostly-taps"
  /** The latest hundred clicks of the network (/24, /48) on this day were of thirty users or more. */
  | "crowded-network"
  /** The click came within a second of the code. */
  | "right-after-issue";

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
