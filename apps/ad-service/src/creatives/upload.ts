import { createReadStream, statSync } from "node:fs";
import { basename } from "node:path";
import { Transform } from "node:stream";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { OperatorRefusal } from "@intermission/server/command-line";
import type { CaptionsFile } from "@intermission/server/command-options";
import type { Row } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";

/** Uploads a video, with a progress bar for people. */
export async function uploadVideo(context: CommandContext, file: string): Promise<Row> {
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
  const creative = await callForRow(context, operatorRequest("uploadVideo", { query: { name }, body }));
  tellOfVideo(name, creative);
  return creative;
}

/** The same for a video that the server fetches itself. */
export async function addVideoByAddress(context: CommandContext, url: string): Promise<Row> {
  const creative = await callForRow(context, operatorRequest("addVideoByAddress", { body: { url } }));
  tellOfVideo(url, creative);
  return creative;
}

/** Reports that the video was converted, or that its renditions or its poster are missing. */
function tellOfVideo(name: string, creative: Row): void {
  if (typeof creative.posterFault === "string") {
    process.stderr.write(
      `${name} was added without a poster: ${creative.posterFault}. Set one: creatives poster ${creative.creativeId} <file>\n`,
    );
  }
  if (typeof creative.converted === "string") {
    process.stderr.write(`${name} was converted during the upload: ${creative.converted}.\n`);
  }
  if (typeof creative.renditionFault === "string") {
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
): Promise<Row | undefined> {
  let creative: Row | undefined;
  for (const { language, file } of files) {
    const params = { creativeId, language };
    creative = await withNextStep({ file, next: `creatives captions ${creativeId} ${language}=${file}` }, () =>
      callForRow(context, operatorRequest("setCaptions", { params, body: createReadStream(file) })),
    );
  }
  return creative;
}

/** The video exists already: the message names only the refused step, to be repeated. */
export async function withNextStep<Result>(
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
export async function uploadPoster(context: CommandContext, creativeId: string, file: string): Promise<Row> {
  return withNextStep({ file, next: `creatives poster ${creativeId} ${file}` }, () =>
    callForRow(context, operatorRequest("setPoster", { params: { creativeId }, body: createReadStream(file) })),
  );
}
