import type { AdDatabase } from "../ad-database.ts";
import { captionsFault, MOST_CAPTION_BYTES } from "./inspect-captions.ts";
import { keepBytes } from "./keep-bytes.ts";
import type { MediaStorage } from "./media-storage.ts";
import { readAtMost } from "./read-at-most.ts";
import { type Creative, findCreative } from "./rows.ts";

export type SetCaptionsOutcome =
  | { outcome: "changed"; creative: Creative }
  | { outcome: "unknown-creative" }
  | { outcome: "refused"; message: string };

const MOST_LANGUAGES = 10;

/** Adds captions to a video, or replaces those of the same language. */
export async function setCaptions(
  { database, media }: { database: AdDatabase; media: MediaStorage },
  { creativeId, language: tag, bytes }: { creativeId: string; language: string; bytes: AsyncIterable<Uint8Array> },
): Promise<SetCaptionsOutcome> {
  const language = languageOf(tag);
  if (language === undefined) {
    return { outcome: "refused", message: `${tag} is not a language; write it as en or pt-BR` };
  }
  const creative = await findCreative(database, creativeId);
  if (!creative) return { outcome: "unknown-creative" };
  if (creative.durationMs === null) {
    return { outcome: "refused", message: "a VAST tag has no video of its own, so it cannot have captions" };
  }
  const file = await readAtMost(bytes, MOST_CAPTION_BYTES + 1);
  const message = captionsFault(file, { durationMs: creative.durationMs });
  if (message !== undefined) return { outcome: "refused", message };
  const fileName = await keepBytes(media, file, "vtt");
  return note(database, { creativeId, language, fileName });
}

async function note(
  database: AdDatabase,
  { creativeId, language, fileName }: { creativeId: string; language: string; fileName: string },
): Promise<SetCaptionsOutcome> {
  return database.transaction(async (tx) => {
    // Serializes changes: two languages added at the same time could both be the tenth.
    const lock = tx.query
      .selectFrom("creatives")
      .select("creative_id")
      .where("creative_id", "=", creativeId)
      .forUpdate();
    await lock.execute();
    const before = await findCreative(tx, creativeId);
    const others = before?.captions.filter((captions) => captions.language !== language) ?? [];
    if (others.length >= MOST_LANGUAGES) {
      const message = `it has captions in ${MOST_LANGUAGES} languages; remove one first`;
      return { outcome: "refused", message };
    }
    await tx.query
      .insertInto("creative_captions")
      .values({ creative_id: creativeId, language, file_name: fileName })
      .onConflict((conflict) => conflict.columns(["creative_id", "language"]).doUpdateSet({ file_name: fileName }))
      .execute();
    const creative = await findCreative(tx, creativeId);
    return creative ? { outcome: "changed", creative } : { outcome: "unknown-creative" };
  });
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
