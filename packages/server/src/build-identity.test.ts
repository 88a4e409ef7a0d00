import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readSource } from "./build-identity.ts";

test("a clone names its commit and whether files differ; other folders have none, and nothing fails without git", () => {
  const folder = mkdtempSync(join(tmpdir(), "build-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const none = { commit: null, date: null };
  expect(readSource(folder, {})).toEqual(none);
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=x", "-c", "user.email=x@example.com", ...words], {
      encoding: "utf8",
    });
  git("init", "--quiet");
  writeFileSync(join(folder, "file"), "1");
  git("add", "file");
  git("commit", "--quiet", "--message", "first", "--date", "2026-01-02T03:04:05Z");
  const commit = git("rev-parse", "HEAD").slice(0, 10);
  const date = git("log", "-1", "--format=%cs").trim();
  writeFileSync(join(folder, "untracked"), "");
  expect(readSource(folder, {})).toEqual({ commit, date });
  writeFileSync(join(folder, "file"), "2");
  expect(readSource(folder, {})).toEqual({ commit: `${commit}-dirty`, date });
  mkdirSync(join(folder, "inside"));
  expect(readSource(join(folder, "inside"), {})).toEqual(none);
  expect(readSource(folder, { BUILD_COMMIT: "83c455be20\n" })).toEqual({ commit: "83c455be20", date: null });
});
