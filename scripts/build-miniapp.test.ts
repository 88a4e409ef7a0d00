import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mountSmallDisk } from "@intermission/testing/small-disk";
import { expect, onTestFinished, test } from "vitest";
import { announceBuild } from "./build-miniapp.ts";

test("on a read-only file system a start uses the builds that are there, and says what to do where there is none", async () => {
  const disk = await mountSmallDisk(1);
  onTestFinished(() => disk.remove());
  const [built, unbuilt] = ["built", "unbuilt"].map((name) => join(disk.outside, name)) as [string, string];
  mkdirSync(join(built, "dist"), { recursive: true });
  writeFileSync(join(built, "dist/index.html"), "");
  mkdirSync(unbuilt);
  disk.makeReadOnly();
  await announceBuild("console", built)();
  expect(() => announceBuild("console", unbuilt)).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/not built, and .*unbuilt cannot be written/),
      nextStep: expect.stringMatching(/^Run: npm run build/),
    }),
  );
});
