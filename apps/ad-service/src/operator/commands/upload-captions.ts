import { createReadStream } from "node:fs";
import { OperatorRefusal } from "../operator-client.ts";
import type { Row } from "../show.ts";
import { type CommandContext, callForRow } from "./command-context.ts";
import type { CaptionsFile } from "./parse-option.ts";

/** Adds captions to a video that is there, and returns it; undefined: none were given. */
export async function uploadCaptions(
  context: CommandContext,
  creativeId: string,
  files: readonly CaptionsFile[],
): Promise<Row | undefined> {
  let creative: Row | undefined;
  for (const { language, file } of files) {
    const path = `/creatives/${encodeURIComponent(creativeId)}/captions/${encodeURIComponent(language)}`;
    try {
      creative = await callForRow(context, { method: "PUT", path, body: createReadStream(file) });
    } catch (error) {
      if (!(error instanceof OperatorRefusal)) throw error;
      const next = `mend it, then: creatives captions ${creativeId} ${language}=${file}`;
      throw new OperatorRefusal(error.status, error.code, `${file} was not added: ${error.message}; ${next}`);
    }
  }
  return creative;
}
