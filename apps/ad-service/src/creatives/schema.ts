import type { ColumnType } from "kysely";

export interface CreativeTables {
  creatives: {
    creative_id: string;
    sha256: string;
    file_name: string;
    media_type: string;
    byte_length: number;
    duration_ms: number;
    width: number;
    height: number;
    created_at: ColumnType<Date, Date, never>;
  };
}
