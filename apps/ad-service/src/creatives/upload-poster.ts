import { createReadStream } from "node:fs";
import { type CommandContext, callForRow } from "../operator/command-context.ts";
import type { Row } from "../operator/show.ts";
import { withNextStep } from "./upload-captions.ts";

/** Replaces the poster of an existing video, and returns the video. */
export async function uploadPoster(context: CommandContext, creativeId: string, file: string): Promise<Row> {
  const path = `/creatives/${encodeURIComponent(creativeId)}/poster`;
  return withNextStep({ file, next: `creatives poster ${creativeId} ${file}` }, () =>
    callForRow(context, { method: "PUT", path, body: createReadStream(file) }),
  );
}
