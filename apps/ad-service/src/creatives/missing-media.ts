import { setTimeout as wait } from "node:timers/promises";
import type { Captions, Rendition } from "@intermission/operator-api/creatives";
import { type Database, statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import { NotReady } from "@intermission/server/health";
import type { FastifyBaseLogger } from "fastify";
import { Gauge, type Registry } from "prom-client";
import { BucketFault } from "./bucket-faults.ts";
import type { BucketStorage } from "./bucket-storage.ts";
import type { FolderStorage, MediaStorage } from "./media-storage.ts";

/** A creative that an active campaign shows, or a bot with pictures, and the files in the storage. */
export interface ShownFiles {
  /** The creative's id, or `bot` and the bot's. */
  readonly owner: string;
  readonly campaignIds: readonly string[];
  /** The video and its lighter files; empty if the video is elsewhere. */
  readonly videos: readonly string[];
  /** Poster and captions, or pictures. */
  readonly others: readonly string[];
}

interface ShownRow {
  creativeId: string;
  campaignIds: string[];
  fileName: string | null;
  posterFileName: string | null;
  renditions: Rendition[];
  captions: Captions[];
}

const shown = statement<ShownRow>(
  "creatives.shown-files",
  `select creatives.creative_id as "creativeId", file_name as "fileName", poster_file_name as "posterFileName", renditions, captions,
     array_agg(campaign_id order by campaign_id) as "campaignIds"
   from campaign_creatives join campaigns using (campaign_id) join creatives using (creative_id)
   where campaigns.status = 'active' and campaign_creatives.is_active and (ends_at is null or ends_at > $1)
   group by creatives.creative_id order by creatives.creative_id`,
);

const picturesOfBots = statement<{ botId: string; files: string[] }>(
  "creatives.pictures-of-bots",
  `select bot_id as "botId", array_remove(array[picture_file_name, unit_icon_file_name], null) as files
   from bots where picture_file_name is not null or unit_icon_file_name is not null order by bot_id`,
);

/** The files that this node lacks. */
interface MissingMedia {
  /** Files of active creatives, and pictures of bots. */
  readonly files: number;
  readonly missing: number;
  /** The missing files of each creative and bot that lacks one. */
  readonly byOwner: ReadonlyMap<string, readonly string[]>;
  /** Whether there are videos, and this node has none of them. */
  readonly hasNoVideo: boolean;
}

/** Which files are missing, if the storage has exactly the files that `isThere` accepts. */
export function missingMedia(shownFiles: readonly ShownFiles[], isThere: (file: string) => boolean): MissingMedia {
  const files = shownFiles.flatMap(({ videos, others }) => [...videos, ...others]);
  const byOwner = new Map<string, readonly string[]>();
  for (const { owner, videos, others } of shownFiles) {
    const missing = [...videos, ...others].filter((file) => !isThere(file));
    if (missing.length > 0) byOwner.set(owner, missing);
  }
  const videos = shownFiles.flatMap((one) => one.videos);
  return {
    files: new Set(files).size,
    missing: new Set([...byOwner.values()].flat()).size,
    byOwner,
    hasNoVideo: videos.length > 0 && !videos.some(isThere),
  };
}

interface MediaDeps {
  readonly database: Database;
  readonly media: Pick<MediaStorage, "has">;
}

const MAX_CONCURRENT = 16;

/** Looks for the files of active creatives and the pictures of bots. Rejects if the storage does not answer: then nothing is known about its files. */
export async function findMissingMedia({ database, media }: MediaDeps, now: Date): Promise<MissingMedia> {
  const creatives = (await database.run(shown, [now])).map(
    ({ creativeId, campaignIds, fileName, posterFileName, renditions, captions }): ShownFiles => ({
      owner: creativeId,
      campaignIds,
      videos: fileName === null ? [] : [fileName, ...renditions.map((one) => one.fileName)],
      others: [...(posterFileName === null ? [] : [posterFileName]), ...captions.map((one) => one.fileName)],
    }),
  );
  const bots = (await database.run(picturesOfBots, [])).map(
    ({ botId, files }): ShownFiles => ({ owner: `bot ${botId}`, campaignIds: [], videos: [], others: files }),
  );
  const all = [...creatives, ...bots];
  const waiting = [...new Set(all.flatMap(({ videos, others }) => [...videos, ...others]))];
  const there = new Set<string>();
  async function look(): Promise<void> {
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (await media.has(file)) there.add(file);
    }
  }
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, look));
  return missingMedia(all, (file) => there.has(file));
}

const MAX_NAMED = 5;

/** One sentence for the log and `/readyz`; undefined if nothing is missing. */
function describeMissingMedia(
  found: MissingMedia,
  media: Pick<FolderStorage | BucketStorage, "kind" | "place">,
): string | undefined {
  if (found.missing === 0) return undefined;
  const ids = [...found.byOwner.keys()];
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : "";
  return (
    `${found.missing} of the ${found.files} files of active creatives and pictures of bots are missing in ${media.place}, of ` +
    `${ids.slice(0, MAX_NAMED).join(", ")}${more}: users of this node see no video or picture there. ${nextStep[media.kind]}`
  );
}

const nextStep = {
  folder:
    "Mount the folder that all nodes share and set MEDIA_DIR to it, or set the S3_ settings of the other nodes, or restore the files",
  bucket: "Copy the files from MEDIA_DIR into the bucket, or remove the S3_ settings to use the folder again",
} satisfies Record<(FolderStorage | BucketStorage)["kind"], string>;

/** What this node knew about its files at the last check. */
interface MediaCheck {
  /** Undefined if all files were there, or nothing is known about them; what is wrong with a bucket otherwise. */
  warning(): string | undefined;
  /** Throws `NotReady` if this node has no video at all: other nodes, or the version before, should serve. */
  require(): void;
  health: BackgroundLoop["health"];
  stop: BackgroundLoop["stop"];
}

const EVERY_MS = 60_000;
const FIRST_WITHIN_MS = 10_000;

/** Checks the files once, then every minute. A change is logged in one line. */
export async function startCheckingMedia(deps: {
  database: Database;
  media: FolderStorage | BucketStorage;
  registry: Registry;
  log: Pick<FastifyBaseLogger, "error" | "warn" | "info">;
  now: () => Date;
  everyMs?: number;
}): Promise<MediaCheck> {
  const { media, registry, log, now, everyMs = EVERY_MS } = deps;
  const gauge = new Gauge({
    name: "intermission_missing_media_files",
    help: "Files of active creatives and pictures of bots that this node did not find in its media folder or bucket at the last check.",
    registers: [registry],
  });
  let warning: string | undefined;
  let hasNoVideo = false;

  async function check(): Promise<undefined> {
    const found = await findMissingMedia(deps, now());
    // Wrong keys are a fault before the first video, too.
    if (found.files === 0 && media.kind === "bucket") await media.has("none");
    gauge.set(found.missing);
    hasNoVideo = found.hasNoVideo;
    const next = describeMissingMedia(found, media);
    if (next === undefined && warning !== undefined)
      log.info({ files: found.files }, "no media file is missing any more");
    warn(next, { files: found.files, missing: found.missing });
  }
  function warn(next: string | undefined, facts: object): void {
    if (next !== undefined && next !== warning) log.error(facts, next);
    warning = next;
  }
  function onFault(error: unknown): void {
    if (error instanceof BucketFault) warn(error.message, {});
    else log.warn({ err: error }, "the media files could not be checked");
  }
  // A bucket that does not answer delays the start no longer than this.
  await Promise.race([check().catch(onFault), wait(FIRST_WITHIN_MS, undefined, { ref: false })]);
  const { health, stop } = startLoop({ everyMs, firstInMs: everyMs, round: check, onFault });
  return {
    warning: () => warning,
    require() {
      if (hasNoVideo && warning !== undefined) throw new NotReady(warning);
    },
    health,
    stop,
  };
}
