import { chmodSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A clock that a server sees instead of the machine's, by libfaketime. */
export interface MovableClock {
  /** Environment variables of the server. Its timers go on as they are. */
  readonly env: NodeJS.ProcessEnv;
  /** Moves the clock while the server runs: so far from the machine's. */
  moveBy(seconds: number): void;
  remove(): void;
}

const [library] = globSync("/usr/lib/*/faketime/libfaketime.so.1");

/** Why no clock can be moved here, in one line; undefined if one can. */
export function missingForClocks(): string | undefined {
  return library !== undefined ? undefined : "Enable it: apt-get install faketime";
}

export function openMovableClock(): MovableClock {
  if (library === undefined) throw new Error(missingForClocks());
  const folder = mkdtempSync("/tmp/intermission-clock-");
  // The server's own user reads it.
  chmodSync(folder, 0o755);
  const file = join(folder, "offset");
  const moveBy = (seconds: number) => writeFileSync(file, `${seconds < 0 ? "" : "+"}${seconds}\n`, { mode: 0o644 });
  moveBy(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
    },
    moveBy,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
