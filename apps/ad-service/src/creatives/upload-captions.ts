import { createReadStream } from "node:fs";
import { type CommandContext, callForRow } from "../operator/command-context.ts";
import { OperatorRefusal } from "../operator/operator-client.ts";
import type { CaptionsFile } from "../operator/parse-option.ts";
import type { Row } from "../operator/show.ts";

/** Adds captions to an existing video, and returns it; undefined if none were given. */
export async function uploadCaptions(
  context: CommandContext,
  creativeId: string,
  files: readonly CaptionsFile[],
): Promise<Row | undefined> {
  let creative: Row | undefined;
  for (const { language, file } of files) {
    const path = `/creatives/${encodeURIComponent(creativeId)}/captions/${encodeURIComponent(language)}`;
    creative = await withNextStep({ file, next: `creatives captions ${creativeId} ${language}=${file}` }, () =>
      callForRow(context, { method: "PUT", path, body: createReadStream(file) }),
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
