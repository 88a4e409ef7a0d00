import { type Selectable, sql } from "kysely";
import type { AdTransaction } from "../ad-database.ts";
import type { CreativeKind, CreativeTables } from "./schema.ts";

/** A lighter file of a creative's video. */
export interface Rendition {
  /** Below `/media/`. */
  fileName: string;
  mediaType: string;
  byteLength: number;
  width: number;
  height: number;
}

/** A WebVTT file. */
export interface Captions {
  /** BCP 47, as `en` or `pt-BR`. */
  language: string;
  /** Below `/media/`. */
  fileName: string;
}

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
  /** The heaviest first. */
  renditions: Rendition[];
  captions: Captions[];
  createdAt: Date;
}

export async function findCreative(database: AdTransaction, creativeId: string): Promise<Creative | undefined> {
  const row = await selectCreatives(database).where("creative_id", "=", creativeId).executeTakeFirst();
  return row && creativeOf(row);
}

/** All creatives, newest first. */
export async function listCreatives(database: AdTransaction): Promise<Creative[]> {
  const rows = await selectCreatives(database).orderBy("created_at", "desc").orderBy("creative_id").execute();
  return rows.map(creativeOf);
}

/** An array of `Rendition`, for any query that selects from `creatives`. */
export const renditionsSql = `coalesce((
  select jsonb_agg(jsonb_build_object('fileName', rendition.file_name, 'mediaType', rendition.media_type,
    'byteLength', rendition.byte_length, 'width', rendition.width, 'height', rendition.height)
    order by rendition.byte_length desc)
  from creative_renditions rendition where rendition.creative_id = creatives.creative_id), '[]')`;

/** An array of `Captions`. */
export const captionsSql = `coalesce((
  select jsonb_agg(jsonb_build_object('language', captions.language, 'fileName', captions.file_name) order by captions.language)
  from creative_captions captions where captions.creative_id = creatives.creative_id), '[]')`;

function selectCreatives(database: AdTransaction) {
  return database.query
    .selectFrom("creatives")
    .selectAll()
    .select(sql.raw<Rendition[]>(renditionsSql).as("renditions"))
    .select(sql.raw<Captions[]>(captionsSql).as("captions"));
}

function creativeOf(
  row: Selectable<CreativeTables["creatives"]> & Pick<Creative, "renditions" | "captions">,
): Creative {
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
    renditions: row.renditions,
    captions: row.captions,
    createdAt: row.created_at,
  };
}
