import type { ColumnType } from "kysely";

/** A file of ours, a video at an address elsewhere, or a VAST tag that is asked at each opening. */
export type CreativeKind = "file" | "address" | "vast";

type Optional<Value> = ColumnType<Value | null, Value | null | undefined, Value | null>;

export interface CreativeTables {
  creatives: {
    creative_id: string;
    kind: ColumnType<CreativeKind, CreativeKind | undefined, never>;
    /** Of `address` the video, of `vast` the tag. */
    url: Optional<string>;
    sha256: Optional<string>;
    file_name: Optional<string>;
    poster_file_name: Optional<string>;
    /** The six below are null for `vast`: its answer says them. */
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
