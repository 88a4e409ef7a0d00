import type { ColumnType } from "kysely";

export type CampaignFormat = "rewarded" | "direct_link";

export interface CampaignTables {
  campaigns: {
    campaign_id: string;
    name: string;
    advertiser: string;
    format: CampaignFormat;
    creative_id: string | null;
    landing_url: string | null;
    call_to_action: string | null;
    weight: number;
    price_micros: number;
    is_active: ColumnType<boolean, boolean | undefined, boolean>;
    created_at: ColumnType<Date, Date, never>;
    updated_at: ColumnType<Date, Date, Date>;
  };
  charges: {
    charge_id: string;
    campaign_id: string;
    bot_id: string;
    format: CampaignFormat;
    code: string;
    price_micros: ColumnType<number, number, never>;
    occurred_at: ColumnType<Date, Date, never>;
  };
}
