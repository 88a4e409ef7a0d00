import { spawn } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyCluster } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openCliFixture } from "../../test/fixtures/cli-fixture.ts";
import { type BackupConfig, backUp } from "./back-up.ts";
import { restore } from "./restore.ts";
import type { Seal } from "./sealed-folder.ts";

const migrations = { "0001": "create table things (id int)" };
const stores = ["ad_service", "api"].map((schema) => ({ schema, migrations }));
const time = new Date("2000-01-01T00:00:00Z");
let root = "";
let backup = "";
let sealed: Seal;
const steps: string[] = [];

const configOf = (dataDirectory: string): BackupConfig => ({
  dataDirectory,
  buffersMegabytes: 16,
  media: { kind: "folder", folder: join(dataDirectory, "ad-service/media"), isMadeIfMissing: true },
});
const silent = () => {};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "backups-"));
  const data = join(root, "data");
  await copyCluster(data, ...stores);
  mkdirSync(join(data, "ad-service/media/.upload-1"), { recursive: true });
  for (const name of ["1.mp4", ".upload-1/2.mp4"]) writeFileSync(join(data, "ad-service/media", name), "a video");
  utimesSync(join(data, "ad-service/media/1.mp4"), time, time);
  backup = join(root, "backup");
  sealed = await backUp(configOf(data), backup, (step) => steps.push(step));
});
afterAll(() => rm(root, { recursive: true, force: true }));

let copies = 0;
/** A copy of the backup that a test may damage. */
function copyOfBackup(): string {
  const copy = join(root, `copy-${++copies}`);
  cpSync(backup, copy, { recursive: true });
  return copy;
}

const newFolder = () => join(root, `new-${++copies}`);

test("a restored backup has both servers' tables and the videos with their times; secrets in the folder stay", {
  tags: "long",
}, async () => {
  const dataDirectory = newFolder();
  mkdirSync(dataDirectory);
  writeFileSync(join(dataDirectory, "demo-secrets.json"), "{}");
  await restore(configOf(dataDirectory), backup, silent);
  const video = join(dataDirectory, "ad-service/media/1.mp4");
  expect(readFileSync(video, "utf8")).toBe("a video");
  expect(statSync(video).mtime).toEqual(time);
  expect(existsSync(join(dataDirectory, "postgres/PG_VERSION"))).toBe(true);
  expect(existsSync(join(dataDirectory, "demo-secrets.json"))).toBe(true);
  expect(sealed).toMatchObject({
    schemas: [{ schema: "ad_service" }, { schema: "api" }],
    videos: { kind: "folder", files: 1, bytes: 7 },
  });
  expect([...new Set(steps)]).toEqual([
    "copying the database",
    "copying the videos",
    "starting a server on the copy",
    "checking the copy",
    "computing checksums",
  ]);
  await expect(restore(configOf(dataDirectory), backup, silent)).rejects.toThrow(/has data .*only where nothing is/);
});

test.each<[fault: string, damage: (folder: string) => void, words: RegExp]>([
  ["without its seal, as an interrupted one", (folder) => rmSync(join(folder, "backup.json")), /not a whole backup/],
  [
    "with half a seal",
    (folder) => writeFileSync(join(folder, "backup.json"), '{"format":'),
    /backup.json cannot be read/,
  ],
  ["whose list of files was cut", (folder) => writeFileSync(join(folder, "SHA256SUMS"), ""), /SHA256SUMS is changed/],
  [
    "without a file",
    (folder) => rmSync(join(folder, "postgres/PG_VERSION")),
    /damaged: postgres\/PG_VERSION is missing/,
  ],
  [
    "with a changed video",
    (folder) => appendFileSync(join(folder, "media/1.mp4"), "!"),
    /damaged: media\/1.mp4 is changed/,
  ],
])(
  "a backup %s is refused, and the folder can be used for another one",
  { tags: "long" },
  async (_fault, damage, words) => {
    const [copy, dataDirectory] = [copyOfBackup(), newFolder()];
    damage(copy);
    await expect(restore(configOf(dataDirectory), copy, silent)).rejects.toThrow(words);
    expect(existsSync(join(dataDirectory, "postgres"))).toBe(false);
  },
);

test("a restore that was refused in its middle is repeated with a whole backup, whose empty folders a tool has left out", {
  tags: "long",
}, async () => {
  const [damaged, withoutEmpty, dataDirectory] = [copyOfBackup(), copyOfBackup(), newFolder()];
  rmSync(join(damaged, "media/1.mp4"));
  await expect(restore(configOf(dataDirectory), damaged, silent)).rejects.toThrow(/missing/);
  rmSync(join(withoutEmpty, "postgres/pg_notify"), { recursive: true });
  await restore(configOf(dataDirectory), withoutEmpty, silent);
  expect(existsSync(join(dataDirectory, "postgres/pg_notify"))).toBe(true);
});

test("nothing that exists is overwritten, and a backup is not made inside of what it copies", async () => {
  const config = configOf(join(root, "data"));
  await expect(backUp(config, backup, silent)).rejects.toThrow(/exists and is not empty: name a new folder/);
  const inside = join(root, "data/ad-service/media/backup");
  await expect(backUp(config, inside, silent)).rejects.toThrow(/is inside .*media, which is copied/);
  const other = newFolder();
  mkdirSync(join(other, "ad-service/media"), { recursive: true });
  writeFileSync(join(other, "ad-service/media/2.mp4"), "another");
  await expect(restore(configOf(other), backup, silent)).rejects.toThrow(/media has files: .*only where nothing is/);
});

test("a backup for a bucket is not restored to a folder in silence, and the reverse", async () => {
  const bucket = { endpoint: "http://127.0.0.1:1", region: "r", bucket: "b", accessKeyId: "i", secretAccessKey: "s" };
  const config = { ...configOf(newFolder()), media: { kind: "bucket" as const, ...bucket } };
  await expect(restore(config, backup, silent)).rejects.toThrow(/contains the videos, but the S3_ variables/);
});

test("the command lines name what to do where the database is a server, or the data are elsewhere", async () => {
  const fixture = await openCliFixture();
  onTestFinished(() => fixture.close());
  const DATABASE_URL = "postgres://someone:secret@127.0.0.1:1/database";
  const dumped = await fixture.ads(["backup", newFolder()], { DATABASE_URL });
  expect(dumped).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/^ads: .*DATABASE_URL.*pg_dump/) });
  const loaded = await fixture.ads(["restore", backup], { DATABASE_URL });
  expect(loaded).toMatchObject({ code: 1, out: "", err: expect.stringMatching(/^ads: .*DATABASE_URL.*pg_restore/) });
  expect(`${dumped.err}${loaded.err}`).not.toContain("secret");
  const remote = await fixture.ads(["--url", "http://127.0.0.1:1", "backup", newFolder()]);
  expect(remote).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^ads: .*run it on that machine, without --url/),
  });
  const nowhere = await fixture.ads(["backup", newFolder()]);
  expect(nowhere).toMatchObject({ code: 3, err: expect.stringMatching(/^ads: .*holds no store: set DATA_DIR/) });
});

test("a backup that is killed at any moment is never whole, and the next one replaces what it left", {
  tags: "long",
  timeout: 180_000,
}, async () => {
  const source = join(root, "data");
  const script = `
    import { backUp } from ${JSON.stringify(join(import.meta.dirname, "back-up.ts"))};
    console.log("begun");
    await backUp(JSON.parse(process.argv[1]), process.argv[2], () => {});
  `;
  for (const delayMs of [0, 150, 400, 800, 1200]) {
    const target = newFolder();
    const words = ["--input-type=module-typescript", "-e", script, JSON.stringify(configOf(source)), target];
    const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.once("close", resolve));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    child.kill("SIGKILL");
    await ended;
    if (existsSync(target)) continue;
    await expect(restore(configOf(newFolder()), `${target}.partial`, silent)).rejects.toThrow(/not a whole backup/);
    await backUp(configOf(source), target, silent);
    expect(existsSync(`${target}.partial`)).toBe(false);
    await restore(configOf(newFolder()), target, silent);
  }
});
