import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { unreadEnvFiles } from "./unread-env-files.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "intermission-env-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const text = "export AD_API_TOKEN=hush\nBOT_ID=42\n";

test.each<[string, string | Buffer, RegExp]>([
  [
    "that was not read",
    text,
    /^bot\.env in this folder sets AD_API_TOKEN, BOT_ID, and was not read: set -a; \. \.\/bot\.env; set \+a$/,
  ],
  ["with a byte order mark", `\uFEFF${text}`, /byte order mark.*UTF-8 without one/],
  ["in UTF-16", Buffer.from(`\uFEFF${text}`, "utf16le"), /UTF-16.*save it as UTF-8/],
  ["in UTF-16 without a mark", Buffer.from(text, "utf16le"), /UTF-16/],
])("a file %s is named, without its values", (_what, content, sentence) => {
  writeFileSync(join(folder, "bot.env"), content);
  const [found = "", ...others] = unreadEnvFiles(["AD_API_TOKEN", "BOT_ID"], {}, folder);
  expect(found).toMatch(sentence);
  expect(others).toEqual([]);
  expect(found).not.toContain("hush");
});

test("files without what is missing, folders, and large files are none of it; nothing missing reads nothing", () => {
  writeFileSync(join(folder, ".env"), "OTHER=1\nAD_API_TOKEN=\n");
  writeFileSync(join(folder, "large.env"), `BOT_ID=1\n${"#".repeat(70_000)}`);
  mkdirSync(join(folder, "folder.env"));
  expect(unreadEnvFiles(["AD_API_TOKEN", "BOT_ID"], {}, folder)).toEqual([]);
  writeFileSync(join(folder, ".env"), text);
  expect(unreadEnvFiles([], {}, folder)).toEqual([]);
  expect(unreadEnvFiles(["BOT_ID"], {}, join(folder, "none"))).toEqual([]);
});

test("a name that carries the mark, as loaders of env files read it, is named", () => {
  expect(unreadEnvFiles(["BOT_ID"], { "\uFEFFBOT_ID": "42" }, folder)).toEqual([
    expect.stringContaining("byte order mark"),
  ]);
});
