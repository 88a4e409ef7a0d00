import type { Selectable } from "kysely";
import type { AdDatabase } from "../ad-database.ts";
import type { CreativeKind, CreativeTables } from "./schema.ts";

export interface Creative {
  creativeId: string;
  kind: CreativeKind;
  url: string | null;
  sha256: string | null;
  /** Below `/media/`. */
  fileName: string | null;
  posterFileName: string | null;
  mediaType: string | null;
  byteLength: number | null;
  durationMs: number | null;
  width: number | null;
  height: number | null;
  createdAt: Date;
}

export async function findCreative(database: AdDatabase, creativeId: string): Promise<Creative | undefined> {
  const query = database.query.selectFrom("creatives").selectAll().where("creative_id", "=", creativeId);
  const row = await query.executeTakeFirst();
  return row && creativeOf(row);
}

/** All of them, newest first. */
export async function listCreatives(database: AdDatabase): Promise<Creative[]> {
  const query = database.query.selectFrom("creatives").selectAll();
  const rows = await query.orderBy("created_at", "desc").orderBy("creative_id").execute();
  return rows.map(creativeOf);
}

function creativeOf(row: Selectable<CreativeTables["creatives"]>): Creative {
  return {
    creativeId: row.creative_id,
    kind: row.kind,
    url: row.url,
    sha256: row.sha256,
    fileName: row.file_name,
    posterFileName: row.poster_file_name,
    mediaType: row.media_type,
    byteLength: row.byte_length,
    durationMs: row.duration_ms,
    width: row.width,
    height: row.height,
    createdAt: row.created_at,
  };
}
