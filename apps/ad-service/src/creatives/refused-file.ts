import { type FileFault, textOfFileFault, textOfFileFaults } from "@intermission/operator-api/file-faults";
import type { HttpError } from "@intermission/server/http-server";
import { invalid } from "@intermission/server/refuse";

/** 400, with each fault in the details: for its field `file`, in English and as a code with values. */
export function refusedFile(faults: readonly FileFault[]): HttpError {
  const details = faults.map((fault) => ({ field: "file", message: textOfFileFault(fault), ...fault }));
  return invalid(textOfFileFaults(faults), details);
}
