import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { mountSmallDisk } from "@intermission/testing/small-disk";
import { expect, onTestFinished, test } from "vitest";

const printAnswer = new URL("../../../packages/server/src/print-answer.ts", import.meta.url);
/** Prints parts of these lengths, and says what was not written. */
const script = `
  const { openPrinter } = await import(process.argv[1]);
  const printer = openPrinter(process.stdout);
  await printer.copy((async function* () {
    for (const length of process.argv.slice(2)) yield "x".repeat(Number(length));
  })());
  console.error(await printer.fault());`;

test("a copied answer of which a full disk keeps the beginning alone is a fault, whichever part is cut off", async () => {
  const disk = await mountSmallDisk(1);
  onTestFinished(() => disk.remove());
  const faultOf = (...lengths: number[]) => {
    const output = openSync(join(disk.outside, "answer"), "w");
    try {
      const { stderr } = spawnSync(
        process.execPath,
        ["--input-type=module", "--eval", script, printAnswer.href, ...lengths.map(String)],
        {
          encoding: "utf8",
          stdio: ["ignore", output, "pipe"],
        },
      );
      return stderr.trim();
    } finally {
      closeSync(output);
    }
  };
  expect(faultOf(2_000_000)).toBe("ENOSPC");
  expect(faultOf(500_000, 2_000_000, 0)).toBe("ENOSPC");
  expect(faultOf(2_000_000, 1)).toBe("ENOSPC");
  expect(faultOf(500_000, 0, 200_000)).toBe("undefined");
});
