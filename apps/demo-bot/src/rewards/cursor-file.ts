import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { CursorStore } from "@intermission/publisher/companion";

/** Stores one cursor in a file. Write and rename: a crash leaves the old cursor or the new one, never a partial one. */
export function cursorFile(file: string): CursorStore {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return {
    read() {
      try {
        return readFileSync(file, "utf8").trim() || undefined;
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
        throw new Error(`the rewards feed's cursor could not be read from ${file}`, { cause: error });
      }
    },
    write(cursor = "") {
      const fresh = openSync(`${file}.new`, "w", 0o600);
      try {
        writeSync(fresh, `${cursor}\n`);
        fsyncSync(fresh);
      } finally {
        closeSync(fresh);
      }
      renameSync(`${file}.new`, file);
    },
  };
}
