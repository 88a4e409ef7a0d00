// @module-tag long
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** It takes seconds alone; hundreds of full collections take longer beside other tests. */
const MAX_MS = 180_000;
const MAX_BYTES = 1024 * 1024;

test(
  "no fault makes the heap grow by a mebibyte, in the median of its repeats after a collection",
  async () => {
    const script = fileURLToPath(new URL("./measure-heap-growth.ts", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script, String(MAX_BYTES)], {
      timeout: MAX_MS,
    });
    const growths: Record<string, number> = JSON.parse(stdout);
    expect(Object.keys(growths).length).toBeGreaterThan(70);
    expect(Object.entries(growths).filter(([, bytes]) => !(bytes < MAX_BYTES))).toEqual([]);
  },
  MAX_MS + 5000,
);
