import type { AdDatabase } from "../ad-database.ts";
import { type Creative, findCreative } from "./rows.ts";
import { languageOf } from "./set-captions.ts";

export type RemoveCaptionsOutcome =
  | { outcome: "changed"; creative: Creative }
  | { outcome: "unknown-creative" }
  | { outcome: "no-such-captions" };

/** Stops showing captions in the language with a video. Clients that loaded them keep them: the file stays. */
export async function removeCaptions(
  database: AdDatabase,
  { creativeId, language }: { creativeId: string; language: string },
): Promise<RemoveCaptionsOutcome> {
  const removed = await database.query
    .deleteFrom("creative_captions")
    .where("creative_id", "=", creativeId)
    .where("language", "=", languageOf(language) ?? language)
    .executeTakeFirst();
  const creative = await findCreative(database, creativeId);
  if (!creative) return { outcome: "unknown-creative" };
  return Number(removed.numDeletedRows) === 0 ? { outcome: "no-such-captions" } : { outcome: "changed", creative };
}
