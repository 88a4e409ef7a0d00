import type { Bot, PictureOfBot } from "@intermission/operator-api/bots";
import type { FileFault } from "@intermission/operator-api/file-faults";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Statement, statement } from "@intermission/postgres/open-database";
import { nextVersion } from "@intermission/postgres/row-version";
import type { Ffmpeg } from "../creatives/ffmpeg.ts";
import { fitPicture, MAX_UPLOADED_PICTURE_BYTES } from "../creatives/fit-picture.ts";
import { keepBytes, type MediaStorage, readAtMost } from "../creatives/media-storage.ts";
import { pictureColumns } from "./bot-settings.ts";
import { type Bots, findBot, forgetBot, readBot } from "./bots.ts";

const update = (column: string) =>
  statement<{ botId: string }>(
    `bots.set-${column}`,
    `update bots set ${column} = $2, updated_at = ${nextVersion("bots", "$3")}
     where bot_id = $1 and ${column} is distinct from $2 returning bot_id as "botId"`,
  );
const updates: Record<PictureOfBot, Statement<{ botId: string }>> = {
  bot: update(pictureColumns.pictureFileName),
  unit: update(pictureColumns.unitIconFileName),
};

interface PictureOf {
  botId: string;
  picture: PictureOfBot;
  author?: Author | undefined;
  now: Date;
}

type SetPictureOutcome =
  | { outcome: "changed"; bot: Bot }
  | { outcome: "unknown-bot" }
  | { outcome: "refused"; faults: readonly FileFault[] };

/** Sets the picture of a bot or of its unit, in the small form that the mini-app shows. */
export async function setPicture(
  { bots, media, ffmpeg }: { bots: Bots; media: MediaStorage; ffmpeg: Ffmpeg },
  { bytes, name, ...of }: PictureOf & { bytes: AsyncIterable<Uint8Array>; name: string },
): Promise<SetPictureOutcome> {
  if ((await findBot(bots, of.botId)) === undefined) return { outcome: "unknown-bot" };
  const file = await readAtMost(bytes, MAX_UPLOADED_PICTURE_BYTES + 1);
  const fitted = await fitPicture({ media, ffmpeg }, { bytes: file, name, use: of.picture });
  if (fitted.outcome === "refused") return fitted;
  return change(bots, of, await keepBytes(media, fitted.bytes, fitted.extension));
}

/** Clients that show the picture keep it: the file stays, as those of creatives do. */
export function removePicture(bots: Bots, of: PictureOf): Promise<Exclude<SetPictureOutcome, { outcome: "refused" }>> {
  return change(bots, of, null);
}

async function change(bots: Bots, { botId, picture, author, now }: PictureOf, fileName: string | null) {
  const bot = await bots.database.transaction(async (tx) => {
    const opened = await openChange(tx, author, botId);
    if ((await tx.run(updates[picture], [botId, fileName, now])).length > 0) await audit(tx, opened);
    return readBot(tx, botId);
  });
  forgetBot(bots, botId);
  return bot ? ({ outcome: "changed", bot } as const) : ({ outcome: "unknown-bot" } as const);
}
