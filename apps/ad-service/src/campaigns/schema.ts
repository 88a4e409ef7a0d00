import type { ColumnType } from "kysely";
import type { Targeting } from "./targeting.ts";

export type CampaignFormat = "rewarded" | "direct_link";
/** `archived`: the campaign no longer runs, and only its statistics remain of interest. */
export type CampaignStatus = "active" | "paused" | "archived";
/** The serving order: sponsorship before standard before house. */
export type CampaignPriority = "sponsorship" | "standard" | "house";
/** `even`: spread over the day; `asap`: as fast as requests come. */
export type CampaignPacing = "even" | "asap";

type Optional<Value> = ColumnType<Value | null, Value | null | undefined, Value | null>;
type Defaulted<Value> = ColumnType<Value, Value | undefined, Value>;

export interface CampaignTables {
  advertisers: {
    name: string;
    /** `advertiserKey` of the name. */
    name_key: string;
    /** SHA-256 of the key that its postbacks carry. */
    postback_key_hash: Optional<Buffer>;
    created_at: ColumnType<Date, Date | undefined, never>;
  };
  campaigns: {
    campaign_id: string;
    name: string;
    advertiser: string;
    formats: CampaignFormat[];
    status: Defaulted<CampaignStatus>;
    priority: Defaulted<CampaignPriority>;
    category: Optional<string>;
    pacing: Defaulted<CampaignPacing>;
    starts_at: Optional<Date>;
    ends_at: Optional<Date>;
    landing_url: Optional<string>;
    call_to_action: Optional<string>;
    weight: Defaulted<number>;
    view_price_micros: Defaulted<number>;
    click_price_micros: Defaulted<number>;
    total_budget_micros: Optional<number>;
    daily_budget_micros: Optional<number>;
    total_view_cap: Optional<number>;
    daily_view_cap: Optional<number>;
    total_click_cap: Optional<number>;
    daily_click_cap: Optional<number>;
    user_cap: Optional<number>;
    user_cap_seconds: Optional<number>;
    targeting: ColumnType<Targeting, string | undefined, string>;
    created_at: ColumnType<Date, Date, never>;
    updated_at: ColumnType<Date, Date, Date>;
  };
  campaign_creatives: {
    campaign_id: string;
    creative_id: string;
    weight: Defaulted<number>;
    label: Optional<string>;
    call_to_action: Optional<string>;
    is_active: Defaulted<boolean>;
  };
  campaign_days: {
    campaign_id: string;
    /** UTC. Select it as text: the driver would read a date in local time. */
    day: string;
    views: number;
    clicks: number;
    spent_micros: number;
  };
  /** Refunded prices, each whole and once. Written by its own statement. */
  refunds: {
    event_id: ColumnType<string, never, never>;
    campaign_id: ColumnType<string, never, never>;
    bot_id: ColumnType<string, never, never>;
    event: ColumnType<CampaignFormat, never, never>;
    price_micros: ColumnType<number, never, never>;
    charged_at: ColumnType<Date, never, never>;
    occurred_at: ColumnType<Date, never, never>;
  };
}
