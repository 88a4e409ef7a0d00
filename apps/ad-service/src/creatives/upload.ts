import { createReadStream, statSync } from "node:fs";
import { basename } from "node:path";
import { Transform } from "node:stream";
import { OperatorRefusal } from "@intermission/server/command-line";
import type { CaptionsFile } from "@intermission/server/command-options";
import type { CommandContext } from "@intermission/server/operator-client";
import { callRoute, type WireAnswer } from "@intermission/server/route-commands";

type AddedVideo = WireAnswer<"uploadVideo">;
type Creative = WireAnswer<"showCreative">;

/** Uploads a video, with a progress bar for people. */
export async function uploadVideo(
  context: CommandContext,
  file: string,
  { pictureSeconds }: { readonly pictureSeconds?: number } = {},
): Promise<AddedVideo> {
  const name = basename(file);
  const all = statSync(file).size;
  let sent = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent += chunk.byteLength;
      showProgress(name, sent, all);
      done(null, chunk);
    },
  });
  const body = createReadStream(file)
    .on("error", (error) => counted.destroy(error))
    .pipe(counted);
  const creative = await callRoute(context, "uploadVideo", {
    query: { name, ...(pictureSeconds !== undefined && { pictureSeconds: String(pictureSeconds) }) },
    body,
  });
  tellOfVideo(name, creative);
  return creative;
}

/** The same for a video that the server fetches itself. */
export async function addVideoByAddress(context: CommandContext, url: string): Promise<AddedVideo> {
  const creative = await callRoute(context, "addVideoByAddress", { body: { url } });
  tellOfVideo(url, creative);
  return creative;
}

/** Reports that the video was converted, or that its renditions or its poster are missing. */
function tellOfVideo(name: string, creative: AddedVideo): void {
  if (creative.posterFault !== null) {
    process.stderr.write(
      `${name} was added without a poster: ${creative.posterFault}. Set one: creatives poster ${creative.creativeId} <file>\n`,
    );
  }
  if (creative.converted !== null) {
    process.stderr.write(`${name} was converted during the upload: ${creative.converted}.\n`);
  }
  if (creative.renditionFault !== null) {
    process.stderr.write(
      `${name} was added without smaller renditions for slow connections: ${creative.renditionFault}. Add it again to make them.\n`,
    );
  }
}

const BAR = 24;

function showProgress(name: string, sent: number, all: number): void {
  if (!process.stderr.isTTY) return;
  const full = Math.round((sent / all) * BAR);
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  const bar = `${"█".repeat(full)}${"░".repeat(BAR - full)}`;
  const what = sent === all ? "checking…" : "";
  process.stderr.write(
    `\r${name}  ${bar}  ${megabytes(sent)} of ${megabytes(all)} MB ${what}${sent === all ? "\n" : ""}`,
  );
}

/** Adds captions to an existing video, and returns it; undefined if none were given. */
export async function uploadCaptions(
  context: CommandContext,
  creativeId: string,
  files: readonly CaptionsFile[],
): Promise<Creative | undefined> {
  let creative: Creative | undefined;
  for (const { language, file } of files) {
    const params = { creativeId, language };
    creative = await withNextStep({ file, next: `creatives captions ${creativeId} ${language}=${file}` }, () =>
      callRoute(context, "setCaptions", { params, body: createReadStream(file) }),
    );
  }
  return creative;
}

/** The video exists already: the message names only the refused step, to be repeated. */
async function withNextStep<Result>(
  { file, next }: { file: string; next: string },
  upload: () => Promise<Result>,
): Promise<Result> {
  try {
    return await upload();
  } catch (error) {
    if (!(error instanceof OperatorRefusal)) throw error;
    const message = `${file} was not added: ${error.message}; correct it, then run: ${next}`;
    throw new OperatorRefusal(error.status, error.code, message);
  }
}

/** Replaces the poster of an existing video, and returns the video. */
export function uploadPoster(context: CommandContext, creativeId: string, file: string): Promise<Creative> {
  const step = { file, next: `creatives poster ${creativeId} ${file}` };
  return uploadPicture(context, step, { name: "setPoster", params: { creativeId } });
}

/** Uploads a picture, and returns what it belongs to. `next`: the command that does it again. */
export function uploadPicture<Name extends "setPoster" | "setBotPicture">(
  context: CommandContext,
  step: { file: string; next: string },
  { name, params }: { name: Name; params: Record<string, string> },
): Promise<WireAnswer<Name>> {
  const upload = { query: { name: basename(step.file) }, body: createReadStream(step.file) };
  return withNextStep(step, () => callRoute(context, name, { params, ...upload }));
}
