import { parseCaptions } from "@intermission/ad-core/captions";
import type { Captions, Creative } from "@intermission/operator-api/creatives";
import { type FileFault, fileFault } from "@intermission/operator-api/file-faults";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { findCreative, seenChange } from "./creatives.ts";
import { inspectPicture, MAX_PICTURE_BYTES } from "./inspect-picture.ts";
import { keepBytes, type MediaStorage, readAtMost } from "./media-storage.ts";

export const MAX_CAPTION_BYTES = 256 * 1024;

/** Returns the fault of a WebVTT file, for its author; undefined if it can be shown with a video of that duration. */
export function captionsFault(bytes: Uint8Array, { durationMs }: { durationMs: number }): FileFault | undefined {
  if (bytes.byteLength === 0) return fileFault("FILE_EMPTY");
  if (bytes.byteLength > MAX_CAPTION_BYTES)
    return fileFault("FILE_TOO_LARGE", { max: `${MAX_CAPTION_BYTES / 1024} KiB` });
  let file: string;
  try {
    file = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return fileFault("CAPTIONS_NOT_UTF8");
  }
  if (!/^WEBVTT(?![^\s])/.test(file)) return fileFault("CAPTIONS_HEAD");
  const { cues, faultyLine } = parseCaptions(file);
  if (faultyLine !== undefined) return fileFault("CAPTIONS_TIMES", { line: String(faultyLine) });
  const isAnyShown = cues.some(({ fromMs, text }) => fromMs < durationMs && text !== "");
  return isAnyShown ? undefined : fileFault("CAPTIONS_NEVER_SHOWN");
}

function refused(fault: FileFault): { outcome: "refused"; faults: readonly FileFault[] } {
  return { outcome: "refused", faults: [fault] };
}

interface CreativeChange {
  creativeId: string;
  /** Changed by its advertiser: it waits for approval again. */
  isSubmission: boolean;
}

export type SetCaptionsOutcome =
  | { outcome: "changed"; creative: Creative }
  | { outcome: "unknown-creative" }
  | { outcome: "refused"; faults: readonly FileFault[] };

const MAX_LANGUAGES = 10;

// Serializes changes: two languages added at the same time could both be the tenth.
const lock = statement<never>("creatives.lock", "select from creatives where creative_id = $1 for update");
const updateCaptions = statement<never>(
  "creatives.set-captions",
  `update creatives set captions = $2, ${seenChange} where creative_id = $1`,
);

/** Adds captions to a video, or replaces those of the same language. */
export async function setCaptions(
  { database, media }: { database: Database; media: MediaStorage },
  change: CreativeChange & { language: string; bytes: AsyncIterable<Uint8Array> },
): Promise<SetCaptionsOutcome> {
  const { creativeId, language: tag, bytes, isSubmission } = change;
  const language = languageOf(tag);
  if (language === undefined) return refused(fileFault("CAPTIONS_LANGUAGE", { language: tag }));
  const creative = await findCreative(database, creativeId);
  if (!creative) return { outcome: "unknown-creative" };
  if (creative.durationMs === null) return refused(fileFault("TAG_HAS_NO_CAPTIONS"));
  const file = await readAtMost(bytes, MAX_CAPTION_BYTES + 1);
  const fault = captionsFault(file, { durationMs: creative.durationMs });
  if (fault !== undefined) return refused(fault);
  const fileName = await keepBytes(media, file, "vtt");
  return note(database, { creativeId, language, fileName, isSubmission });
}

async function note(
  database: Database,
  { language, fileName, ...change }: CreativeChange & { language: string; fileName: string },
): Promise<SetCaptionsOutcome> {
  return database.transaction(async (tx) => {
    await tx.run(lock, [change.creativeId]);
    const before = await findCreative(tx, change.creativeId);
    const others = before?.captions.filter((captions) => captions.language !== language) ?? [];
    if (others.length >= MAX_LANGUAGES) return refused(fileFault("CAPTIONS_LANGUAGES", { max: String(MAX_LANGUAGES) }));
    return changeCaptions(tx, change, [...others, { language, fileName }]);
  });
}

async function changeCaptions(
  tx: Transaction,
  { creativeId, isSubmission }: CreativeChange,
  captions: readonly Captions[],
): Promise<{ outcome: "changed"; creative: Creative } | { outcome: "unknown-creative" }> {
  const sorted = captions.toSorted((a, b) => (a.language < b.language ? -1 : 1));
  await tx.run(updateCaptions, [creativeId, JSON.stringify(sorted), isSubmission]);
  const creative = await findCreative(tx, creativeId);
  return creative ? { outcome: "changed", creative } : { outcome: "unknown-creative" };
}

/** The tag in its canonical form; undefined if it is not a language. */
export function languageOf(tag: string): string | undefined {
  if (!/^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/i.test(tag)) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

export type RemoveCaptionsOutcome =
  | { outcome: "changed"; creative: Creative }
  | { outcome: "unknown-creative" }
  | { outcome: "no-such-captions" };

/** Stops showing captions in the language with a video. Clients that loaded them keep them: the file stays. */
export async function removeCaptions(
  database: Database,
  { creativeId, language: tag, isSubmission }: CreativeChange & { language: string },
): Promise<RemoveCaptionsOutcome> {
  const language = languageOf(tag) ?? tag;
  return database.transaction(async (tx) => {
    await tx.run(lock, [creativeId]);
    const before = await findCreative(tx, creativeId);
    if (!before) return { outcome: "unknown-creative" };
    const others = before.captions.filter((captions) => captions.language !== language);
    if (others.length === before.captions.length) return { outcome: "no-such-captions" };
    return changeCaptions(tx, { creativeId, isSubmission }, others);
  });
}

export type SetPosterOutcome =
  | { outcome: "changed"; creative: Creative }
  | { outcome: "unknown-creative" }
  | { outcome: "refused"; faults: readonly FileFault[] };

const updatePoster = statement<never>(
  "creatives.set-poster",
  `update creatives set poster_file_name = $2, ${seenChange} where creative_id = $1`,
);

/** Sets the picture that is shown until the video plays, in place of the one that was made of the video. */
export async function setPoster(
  { database, media }: { database: Database; media: MediaStorage },
  { creativeId, bytes, isSubmission }: CreativeChange & { bytes: AsyncIterable<Uint8Array> },
): Promise<SetPosterOutcome> {
  const creative = await findCreative(database, creativeId);
  if (!creative) return { outcome: "unknown-creative" };
  if (creative.kind === "vast") return refused(fileFault("TAG_HAS_NO_POSTER"));
  const file = await readAtMost(bytes, MAX_PICTURE_BYTES + 1);
  const picture = inspectPicture(file);
  if ("code" in picture) return refused(picture);
  const fileName = await keepBytes(media, file, picture.extension);
  await database.run(updatePoster, [creativeId, fileName, isSubmission]);
  const changed = await findCreative(database, creativeId);
  return changed ? { outcome: "changed", creative: changed } : { outcome: "unknown-creative" };
}
