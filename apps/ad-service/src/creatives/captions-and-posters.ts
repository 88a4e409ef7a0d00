import { parseCaptions } from "@intermission/ad-core/captions";
import type { Captions, Creative } from "@intermission/operator-api/creatives";
import { type FileFault, fileFault } from "@intermission/operator-api/file-faults";
import { audit, changeAudited, type OpenChange, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { type CreativeChange, findCreative, seenChange } from "./creatives.ts";
import type { Ffmpeg } from "./ffmpeg.ts";
import { fitPicture, MAX_UPLOADED_PICTURE_BYTES } from "./fit-picture.ts";
import { keepBytes, type MediaStorage, readAtMost } from "./media-storage.ts";

const MAX_CAPTION_BYTES = 256 * 1024;

/** Returns the fault of a WebVTT file, for its author; undefined if it can be shown with a video of that duration. */
function captionsFault(bytes: Uint8Array, { durationMs }: { durationMs: number }): FileFault | undefined {
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

interface SeenChange extends CreativeChange {
  /** Changed by its advertiser: it waits for approval again. */
  isSubmission: boolean;
}

type SetCaptionsOutcome =
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
  { language: tag, bytes, ...change }: SeenChange & { language: string; bytes: AsyncIterable<Uint8Array> },
): Promise<SetCaptionsOutcome> {
  const language = languageOf(tag);
  if (language === undefined) return refused(fileFault("CAPTIONS_LANGUAGE", { language: tag }));
  const creative = await findCreative(database, change.creativeId);
  if (!creative) return { outcome: "unknown-creative" };
  if (creative.durationMs === null) return refused(fileFault("TAG_HAS_NO_CAPTIONS"));
  const file = await readAtMost(bytes, MAX_CAPTION_BYTES + 1);
  const fault = captionsFault(file, { durationMs: creative.durationMs });
  if (fault !== undefined) return refused(fault);
  const fileName = await keepBytes(media, file, "vtt");
  return note(database, { ...change, language, fileName });
}

async function note(
  database: Database,
  { language, fileName, ...change }: SeenChange & { language: string; fileName: string },
): Promise<SetCaptionsOutcome> {
  return database.transaction(async (tx) => {
    const opened = await openChange(tx, change.author, change.creativeId);
    await tx.run(lock, [change.creativeId]);
    const before = await findCreative(tx, change.creativeId);
    const others = before?.captions.filter((captions) => captions.language !== language) ?? [];
    if (others.length >= MAX_LANGUAGES) return refused(fileFault("CAPTIONS_LANGUAGES", { max: String(MAX_LANGUAGES) }));
    return changeCaptions(tx, { ...change, opened }, [...others, { language, fileName }]);
  });
}

async function changeCaptions(
  tx: Transaction,
  { creativeId, isSubmission, opened }: SeenChange & { opened: OpenChange | undefined },
  captions: readonly Captions[],
): Promise<{ outcome: "changed"; creative: Creative } | { outcome: "unknown-creative" }> {
  const sorted = captions.toSorted((a, b) => (a.language < b.language ? -1 : 1));
  await tx.run(updateCaptions, [creativeId, JSON.stringify(sorted), isSubmission]);
  const creative = await findCreative(tx, creativeId);
  if (creative) await audit(tx, opened);
  return creative ? { outcome: "changed", creative } : { outcome: "unknown-creative" };
}

/** The tag in its canonical form; undefined if it is not a language. */
function languageOf(tag: string): string | undefined {
  if (!/^[a-z]{2,3}(-[a-z0-9]{2,8}){0,3}$/i.test(tag)) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

type RemoveCaptionsOutcome =
  | { outcome: "changed"; creative: Creative }
  | { outcome: "unknown-creative" }
  | { outcome: "no-such-captions" };

/** Stops showing captions in the language with a video. Clients that loaded them keep them: the file stays. */
export async function removeCaptions(
  database: Database,
  { language: tag, ...change }: SeenChange & { language: string },
): Promise<RemoveCaptionsOutcome> {
  const language = languageOf(tag) ?? tag;
  return database.transaction(async (tx) => {
    const opened = await openChange(tx, change.author, change.creativeId);
    await tx.run(lock, [change.creativeId]);
    const before = await findCreative(tx, change.creativeId);
    if (!before) return { outcome: "unknown-creative" };
    const others = before.captions.filter((captions) => captions.language !== language);
    if (others.length === before.captions.length) return { outcome: "no-such-captions" };
    return changeCaptions(tx, { ...change, opened }, others);
  });
}

type SetPosterOutcome =
  | { outcome: "changed"; creative: Creative }
  | { outcome: "unknown-creative" }
  | { outcome: "refused"; faults: readonly FileFault[] };

const updatePoster = statement<{ id: string }>(
  "creatives.set-poster",
  `update creatives set poster_file_name = $2, ${seenChange} where creative_id = $1 returning creative_id as id`,
);

/** Sets the picture that is shown until the video plays, in place of the one that was made of the video. */
export async function setPoster(
  { database, media, ffmpeg }: { database: Database; media: MediaStorage; ffmpeg: Ffmpeg },
  { bytes, name, isSubmission, ...of }: SeenChange & { bytes: AsyncIterable<Uint8Array>; name: string },
): Promise<SetPosterOutcome> {
  const creative = await findCreative(database, of.creativeId);
  if (!creative) return { outcome: "unknown-creative" };
  if (creative.kind === "vast") return refused(fileFault("TAG_HAS_NO_POSTER"));
  const file = await readAtMost(bytes, MAX_UPLOADED_PICTURE_BYTES + 1);
  const fitted = await fitPicture({ media, ffmpeg }, { bytes: file, name, use: "poster" });
  if (fitted.outcome === "refused") return fitted;
  const fileName = await keepBytes(media, fitted.bytes, fitted.extension);
  const values = [of.creativeId, fileName, isSubmission];
  const { creativeId: objectId, author } = of;
  await changeAudited(database, { objectId, author }, { statement: updatePoster, values });
  const changed = await findCreative(database, objectId);
  return changed ? { outcome: "changed", creative: changed } : { outcome: "unknown-creative" };
}
