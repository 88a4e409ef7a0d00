import type { ColumnType } from "kysely";

export interface ConversionTables {
  conversions: {
    click_id: string;
    event: string;
    conversion_id: string;
    value_micros: number | null;
    bot_id: string;
    campaign_id: string;
    creative_id: string | null;
    occurred_at: ColumnType<Date, Date, never>;
  };
  conversion_refusals: {
    day: ColumnType<string, string, never>;
    reason: string;
    count: number;
  };
}
