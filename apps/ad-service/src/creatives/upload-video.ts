import { createReadStream, statSync } from "node:fs";
import { basename } from "node:path";
import { Transform } from "node:stream";
import { type CommandContext, callForRow } from "../operator/command-context.ts";
import type { Row } from "../operator/show.ts";

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
  const creative = await callForRow(context, { method: "POST", path: "/creatives", query: { name }, body });
  tellOfVideo(name, creative);
  return creative;
}

/** The same for a video that the server fetches itself. */
export async function addVideoByAddress(context: CommandContext, url: string): Promise<Row> {
  const creative = await callForRow(context, { method: "POST", path: "/creatives/addresses", body: { url } });
  tellOfVideo(url, creative);
  return creative;
}

/** Reports that the video was converted, or that its renditions are missing. */
function tellOfVideo(name: string, creative: Row): void {
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
