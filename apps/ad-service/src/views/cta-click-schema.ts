import type { ColumnType } from "kysely";

export interface AdClickTables {
  ad_clicks: {
    bot_id: string;
    session_id: string;
    click_id: string;
    user_id: string;
    campaign_id: string;
    creative_id: string;
    occurred_at: ColumnType<Date, Date, never>;
  };
}
