import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/processes.ts";

const fixture = { path: join(root, "e2e/fixtures/clip-2s.mp4"), seconds: 2 };
/** ISO 14496-12, 8.2.2 and 8.4.2: after version, flags and two times of 32 bits. */
const timescaleAt = 4 + 4 + 4;

/** Writes a video of so many seconds: the fixture of two, with clocks that tick slower. */
export function writeSlowVideo(path: string, seconds: number): void {
  const bytes = readFileSync(fixture.path);
  for (const box of ["mvhd", "mdhd"]) {
    for (let at = bytes.indexOf(box); at >= 0; at = bytes.indexOf(box, at + 4)) {
      const timescale = at + 4 + timescaleAt;
      bytes.writeUInt32BE(Math.round((bytes.readUInt32BE(timescale) * fixture.seconds) / seconds), timescale);
    }
  }
  writeFileSync(path, bytes);
}
