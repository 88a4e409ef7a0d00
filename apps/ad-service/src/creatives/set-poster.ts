import type { AdDatabase } from "../ad-database.ts";
import { inspectPicture, MOST_PICTURE_BYTES } from "./inspect-picture.ts";
import { keepBytes } from "./keep-bytes.ts";
import type { MediaStorage } from "./media-storage.ts";
import { readAtMost } from "./read-at-most.ts";
import { type Creative, findCreative } from "./rows.ts";

export type SetPosterOutcome =
  | { outcome: "changed"; creative: Creative }
  | { outcome: "unknown-creative" }
  | { outcome: "refused"; message: string };

/** Sets the picture that is shown until the video plays, in place of the one that was made of the video. */
export async function setPoster(
  { database, media }: { database: AdDatabase; media: MediaStorage },
  { creativeId, bytes }: { creativeId: string; bytes: AsyncIterable<Uint8Array> },
): Promise<SetPosterOutcome> {
  const creative = await findCreative(database, creativeId);
  if (!creative) return { outcome: "unknown-creative" };
  if (creative.kind === "vast") {
    return { outcome: "refused", message: "a VAST tag has no video of its own, so it cannot have a poster" };
  }
  const file = await readAtMost(bytes, MOST_PICTURE_BYTES + 1);
  const picture = inspectPicture(file);
  if (typeof picture === "string") return { outcome: "refused", message: picture };
  const fileName = await keepBytes(media, file, picture.extension);
  await database.query
    .updateTable("creatives")
    .set({ poster_file_name: fileName })
    .where("creative_id", "=", creativeId)
    .execute();
  const changed = await findCreative(database, creativeId);
  return changed ? { outcome: "changed", creative: changed } : { outcome: "unknown-creative" };
}
