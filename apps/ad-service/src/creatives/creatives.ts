import { createHash } from "node:crypto";
import { webAddressFault } from "@intermission/ad-core/web-address";
import type { Creative } from "@intermission/operator-api/creatives";
import type { FieldFault } from "@intermission/operator-api/field-faults";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { type Author, changeAudited } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { byColumn, type ColumnsOf, selected } from "@intermission/postgres/row-columns";
import { storableText } from "@intermission/postgres/storable-text";
import type { HttpError } from "@intermission/server/http-server";
import { notFound } from "@intermission/server/refuse";
import { markedNameColumn, markingOf } from "./marking.ts";

export type CreativeKind = Creative["kind"];

const creativeColumns = {
  creativeId: "creative_id",
  name: "name",
  kind: "kind",
  url: "url",
  sha256: "sha256",
  fileName: "file_name",
  posterFileName: "poster_file_name",
  mediaType: "media_type",
  byteLength: "byte_length",
  durationMs: "duration_ms",
  width: "width",
  height: "height",
  renditions: "renditions",
  captions: "captions",
  legalLine: "legal_line",
  erid: "erid",
  kktu: "kktu",
  adDescription: "ad_description",
  createdAt: "created_at",
  advertiserId: "advertiser_id",
  review: "review",
  reviewReason: "review_reason",
  reviewedAt: "reviewed_at",
  submittedAt: "submitted_at",
  revision: "revision",
} satisfies ColumnsOf<Omit<Creative, "marking">>;

/** A row of `readColumns`. */
export type CreativeRow<Of extends Creative = Creative> = Omit<Of, "marking"> & { markedName: string | null };
export const readColumns = { ...creativeColumns, markedName: markedNameColumn } satisfies ColumnsOf<CreativeRow>;
/** Selects `CreativeRow` from `creatives`. */
export const selectCreatives = `select ${selected(readColumns)} from creatives`;
const find = statement<CreativeRow>("creatives.find", `${selectCreatives} where creative_id = $1`);

export function creativeOf<Row extends CreativeRow>({ markedName, ...row }: Row) {
  return { ...row, marking: markingOf(row.erid, markedName) };
}

export async function findCreative(database: Transaction, creativeId: string): Promise<Creative | undefined> {
  const [row] = await database.run(find, [creativeId]);
  return row && creativeOf(row);
}

const knownCreative = statement<{ id: string }>(
  "creatives.known",
  "select creative_id as id from creatives where creative_id = $1",
);

/** Refuses an unknown id with 404. Undefined is skipped. */
export async function requireCreative(database: Database, creativeId: string | undefined): Promise<void> {
  if (creativeId === undefined) return;
  if ((await database.run(knownCreative, [creativeId])).length === 0) throw unknownCreative(creativeId);
}

/** SQL of an update of what viewers see. Changed by its advertiser (`$3`), it waits for approval again; a draft stays one. */
export const seenChange = `revision = revision + 1, submitted_at = case when $3::boolean then now() else submitted_at end,
   review_reason = case when $3::boolean then null else review_reason end,
   review = case when $3::boolean and review <> 'draft' then 'waiting' else review end`;

const setLine = statement<{ id: string }>(
  "creatives.set-legal-texts",
  `update creatives set legal_line = case when $4::boolean then $2 else legal_line end,
     erid = case when $6::boolean then $5 else erid end,
     kktu = case when $8::boolean then $7 else kktu end,
     ad_description = case when $10::boolean then $9 else ad_description end, ${seenChange}
   where creative_id = $1 returning creative_id as id`,
);

/** What a person changes of a creative. */
export interface CreativeChange {
  creativeId: string;
  author?: Author | undefined;
}

/** Texts that a law requires beside an ad, and details that are filed. Undefined: unchanged; null: none. */
export interface LegalTexts {
  legalLine?: string | null | undefined;
  erid?: string | null | undefined;
  kktu?: string | null | undefined;
  adDescription?: string | null | undefined;
}

/** Details that are only filed need no approval, since viewers do not see them. Undefined: no such creative. */
export async function setLegalTexts(
  database: Database,
  { isSubmission, creativeId: objectId, author, ...texts }: CreativeChange & LegalTexts & { isSubmission: boolean },
): Promise<Creative | undefined> {
  const { legalLine, erid, kktu, adDescription } = texts;
  const isSeen = legalLine !== undefined || erid !== undefined;
  const pairs = [erid, kktu, adDescription].flatMap((text) => [text ?? null, text !== undefined]);
  const values = [objectId, legalLine ?? null, isSubmission && isSeen, legalLine !== undefined, ...pairs];
  await changeAudited(database, { objectId, author }, { statement: setLine, values });
  return findCreative(database, objectId);
}

const setName = statement<{ id: string }>(
  "creatives.set-name",
  "update creatives set name = $2 where creative_id = $1 and (name is null or not $3) returning creative_id as id",
);

const MAX_NAME = 128;

/** Names a creative for its operator. With `isDefault` a name that it has stays. Undefined: there is no such creative. */
export async function nameCreative(
  database: Database,
  { name, isDefault = false, ...of }: CreativeChange & { name: string; isDefault?: boolean },
): Promise<Creative | undefined> {
  const text = storedName(name);
  const { creativeId: objectId, author } = of;
  const values = [objectId, text, isDefault];
  if (text !== null) await changeAudited(database, { objectId, author }, { statement: setName, values });
  return findCreative(database, objectId);
}

/** A name as it is stored; null: nothing of it can be shown. */
export function storedName(name: string): string | null {
  return storableText(name.replace(/\p{Cc}/gu, " ").trim(), MAX_NAME) || null;
}

export function unknownCreative(creativeId: string): HttpError {
  return notFound(`there is no creative ${creativeId}; see all with: creatives list`);
}

const MAX_TAG_LENGTH = 4096;

/** A creative that is added: what it has, by its kind. */
export type NewCreative = Pick<Creative, "creativeId" | "kind" | "createdAt"> &
  Partial<Creative> & { framesBySecond?: readonly number[] | null };

const insertedColumns = { ...creativeColumns, framesBySecond: "frames_by_second" };
const inserted = Object.values(insertedColumns).join(", ");
const insert = statement<{ id: string }>(
  "creatives.insert",
  `insert into creatives (${inserted}) select ${inserted} from jsonb_populate_record(null::creatives, $1::jsonb)
   on conflict (creative_id) do nothing returning creative_id as id`,
);

/** Adding a creative a second time changes nothing. */
export async function insertCreative(
  database: Database,
  { author, ...creative }: NewCreative & Pick<CreativeChange, "author">,
): Promise<void> {
  const review = { review: "approved", submittedAt: creative.createdAt, revision: 1 };
  const row = byColumn(insertedColumns, { renditions: [], captions: [], ...review, ...creative });
  const { creativeId: objectId } = creative;
  await changeAudited(database, { objectId, author }, { statement: insert, values: [JSON.stringify(row)] });
}

/**
 * Adds a VAST tag, in which `vastTagFault` finds nothing, as a creative, which is requested whenever an ad is needed. Adding the
 * same tag twice gives one creative.
 */
export async function addVastTag(
  database: Database,
  { url, author, now }: { url: string; author?: Author | undefined; now: Date },
): Promise<Creative> {
  const creativeId = `cre_${createHash("sha256").update(`vast ${url}`).digest("hex").slice(0, 24)}`;
  const name = URL.parse(url)?.host.slice(0, MAX_NAME) ?? null;
  await insertCreative(database, { creativeId, name, kind: "vast", url, author, createdAt: now });
  const creative = await findCreative(database, creativeId);
  if (!creative) throw new Error("a creative vanished while it was added");
  return creative;
}

/** Why an address cannot be a VAST tag's. It is stored as given: URL parsers would encode the brackets of some macros. */
export function vastTagFault(
  url: string,
  isPlainHttpAllowed: boolean,
): { message: string; fault: FieldFault } | undefined {
  if (url.length > MAX_TAG_LENGTH) {
    const max = String(MAX_TAG_LENGTH);
    return { message: `is longer than ${max} characters`, fault: fieldFault("CHARACTERS_AT_MOST", { max }) };
  }
  const fault = webAddressFault(url, { isPlainHttpAllowed });
  switch (fault) {
    case undefined:
      return undefined;
    case "not-an-address": {
      const message = "is not an address; write it in full, such as https://tags.example.net/vast?id=1";
      return { message, fault: fieldFault("NOT_AN_ADDRESS") };
    }
    case "scheme":
      return isPlainHttpAllowed
        ? { message: "must begin with https:// or http://", fault: fieldFault("ADDRESS_SCHEME") }
        : { message: "must begin with https://", fault: fieldFault("ADDRESS_NEEDS_HTTPS") };
    case "user-info":
      return { message: "must not hold a user name or password", fault: fieldFault("ADDRESS_USER_INFO") };
    default:
      return fault satisfies never;
  }
}
