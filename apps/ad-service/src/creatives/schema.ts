import type { ColumnType } from "kysely";

/** A stored file, a video at an address elsewhere, or a VAST tag that is requested at each opening. */
export type CreativeKind = "file" | "address" | "vast";

type Optional<Value> = ColumnType<Value | null, Value | null | undefined, Value | null>;

export interface CreativeTables {
  creatives: {
    creative_id: string;
    kind: ColumnType<CreativeKind, CreativeKind | undefined, never>;
    /** The address of the video (`address`) or of the tag (`vast`). */
    url: Optional<string>;
    sha256: Optional<string>;
    file_name: Optional<string>;
    poster_file_name: Optional<string>;
    /** The six columns below are null for `vast`: its response contains them. */
    media_type: Optional<string>;
    byte_length: Optional<number>;
    duration_ms: Optional<number>;
    width: Optional<number>;
    height: Optional<number>;
    created_at: ColumnType<Date, Date, never>;
  };
  /** Lighter files of the same video. */
  creative_renditions: {
    creative_id: string;
    file_name: string;
    media_type: string;
    byte_length: number;
    width: number;
    height: number;
  };
  creative_captions: { creative_id: string; language: string; file_name: string };
}
