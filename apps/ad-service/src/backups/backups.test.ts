import { spawn } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { mountSmallDisk } from "@intermission/testing/small-disk";
import { copyCluster } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openCliFixture } from "../../test/fixtures/cli-fixture.ts";
import { type BackupConfig, backUp, bytesOfVideos } from "./back-up.ts";
import { backUpAndKeep, checkBackup, type KeptBackup } from "./kept-backups.ts";
import { restore } from "./restore.ts";
import { type Seal, sumsOfBackup } from "./sealed-folder.ts";

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
  sealed = await backUp(configOf(data), backup, { onProgress: (step) => steps.push(step) });
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
    "packing the database",
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
  ["without a file", (folder) => rmSync(join(folder, "database.tar.gz")), /damaged: database.tar.gz is missing/],
  [
    "with a cut database",
    (folder) => truncateSync(join(folder, "database.tar.gz"), 100_000),
    /damaged: database.tar.gz is changed/,
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

test("a restore that was refused in its middle is repeated with a whole backup", {
  tags: "long",
}, async () => {
  const [damaged, whole, dataDirectory] = [copyOfBackup(), copyOfBackup(), newFolder()];
  rmSync(join(damaged, "media/1.mp4"));
  await expect(restore(configOf(dataDirectory), damaged, silent)).rejects.toThrow(/missing/);
  await restore(configOf(dataDirectory), whole, silent);
  expect(existsSync(join(dataDirectory, "postgres/pg_notify"))).toBe(true);
});

test("an empty store is a backup of few files, which is made again with its videos linked, and the oldest beyond those kept go", {
  tags: "long",
}, async () => {
  const files = readdirSync(backup, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.map(({ name }) => name).sort()).toEqual(["1.mp4", "SHA256SUMS", "backup.json", "database.tar.gz"]);
  const [config, folder] = [configOf(join(root, "data")), newFolder()];
  const run = (at: string) => backUpAndKeep(config, { folder, keep: 2, now: new Date(at), onProgress: silent });
  const first = await run("2026-01-01T00:00:00Z");
  // As after SIGKILL: a copy that has no seal, and one whose removal was interrupted.
  mkdirSync(join(folder, "2026-01-01T12-00-00Z.partial/postgres"), { recursive: true });
  cpSync(first.folder, join(folder, "2025-12-31T00-00-00Z.partial"), { recursive: true });
  const second = await run("2026-01-02T00:00:00Z");
  expect(second.removed.map((path) => basename(path)).sort()).toEqual([
    "2025-12-31T00-00-00Z.partial",
    "2026-01-01T12-00-00Z.partial",
  ]);
  const fileOf = (one: KeptBackup) => statSync(join(one.folder, "media/1.mp4"));
  expect(fileOf(second).ino).toBe(fileOf(first).ino);
  expect(fileOf(second).ino).not.toBe(statSync(join(root, "data/ad-service/media/1.mp4")).ino);

  // One that fails removes nothing.
  const outage = { ...config, dataDirectory: newFolder() };
  const failed = backUpAndKeep(outage, { folder, keep: 1, now: new Date("2026-01-03T00:00:00Z"), onProgress: silent });
  await expect(failed).rejects.toThrow(/holds no store/);
  expect(existsSync(first.folder)).toBe(true);

  const third = await run("2026-01-04T00:00:00Z");
  expect(third.removed).toEqual([first.folder]);
  expect(
    readdirSync(folder)
      .filter((name) => !name.startsWith("backup.lock"))
      .sort(),
  ).toEqual(["2026-01-02T00-00-00Z", "2026-01-04T00-00-00Z"]);
  await expect(restore(configOf(newFolder()), folder, silent)).rejects.toThrow(
    /holds several backups: name one of them, the newest is .*2026-01-04T00-00-00Z/,
  );
  const restored = newFolder();
  await restore(configOf(restored), third.folder, silent);
  expect(readFileSync(join(restored, "ad-service/media/1.mp4"), "utf8")).toBe("a video");

  const made = new Date(third.seal.completeUntil);
  const check = (hours: number) =>
    checkBackup(folder, { maxAgeHours: 36, now: new Date(made.getTime() + hours * 3_600_000), onProgress: silent });
  expect(await check(35)).toMatchObject({ folder: third.folder, ageHours: 35, backups: 2, incomplete: [] });
  await expect(check(37)).rejects.toThrow(/is whole, but 37.0 hours old/);
  appendFileSync(join(third.folder, "media/1.mp4"), "!");
  await expect(check(1)).rejects.toThrow(/damaged: media\/1.mp4 is changed/);
  // A damaged video is not linked again.
  const fourth = await run("2026-01-05T00:00:00Z");
  expect(readFileSync(join(fourth.folder, "media/1.mp4"), "utf8")).toBe("a video");
});

test("a folder that had backups and is empty, as without its disk, is named and not filled", {
  tags: "long",
}, async () => {
  const folder = newFolder();
  const run = (to: string) =>
    backUpAndKeep(configOf(join(root, "data")), { folder: to, keep: 2, now: new Date(), onProgress: silent });
  await run(folder);
  rmSync(folder, { recursive: true });
  const fault = /had backups and has none now: mount its disk.*remove its line of .*backup-folder/;
  await expect(run(folder)).rejects.toThrow(fault);
  expect(existsSync(folder)).toBe(false);
  mkdirSync(folder);
  await expect(run(folder)).rejects.toThrow(/mount its disk/);
  // Another folder is a new place; the first is still known.
  await run(newFolder());
  await expect(run(folder)).rejects.toThrow(fault);
  const known = join(root, "data/backup-folder");
  writeFileSync(known, readFileSync(known, "utf8").replace(`${folder}\n`, ""));
  expect((await run(folder)).removed).toEqual([]);
});

test("videos of the backup before need room, unless they can be links: not where it is on another disk", {
  tags: "long",
}, async () => {
  const disk = await mountSmallDisk(40);
  onTestFinished(() => disk.remove());
  const elsewhere = join(disk.outside, "backup");
  cpSync(backup, elsewhere, { recursive: true });
  const partial = newFolder();
  mkdirSync(partial);
  const bytesAfter = async (folder: string) =>
    bytesOfVideos({
      from: join(root, "data/ad-service/media"),
      to: join(partial, "media"),
      earlier: { folder, sums: await sumsOfBackup(folder) },
    });
  expect(await bytesAfter(backup)).toBe(0);
  expect(await bytesAfter(elsewhere)).toBe(7);
  expect(readdirSync(partial)).toEqual([]);
});

test("eight backups at once in one folder: one is made, the others say why not", { tags: "long" }, async () => {
  const [config, folder] = [configOf(join(root, "data")), newFolder()];
  const runs = Array.from({ length: 8 }, () =>
    backUpAndKeep(config, { folder, keep: 2, now: new Date(), onProgress: silent }),
  );
  const ended = await Promise.allSettled(runs);
  const refused = ended.filter((one) => one.status === "rejected").map(({ reason }) => String(reason));
  expect(refused).toHaveLength(7);
  for (const reason of refused) expect(reason).toMatch(/another command is making a backup/);
});

test("nothing that exists is overwritten, and a backup is not made inside of what it copies", async () => {
  const config = configOf(join(root, "data"));
  await expect(backUp(config, backup, { onProgress: silent })).rejects.toThrow(
    /exists and is not empty: name a new folder/,
  );
  const inside = join(root, "data/ad-service/media/backup");
  await expect(backUp(config, inside, { onProgress: silent })).rejects.toThrow(/is inside .*media, which is copied/);
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
  const unnamed = await fixture.ads(["backup"]);
  expect(unnamed).toMatchObject({ code: 1, err: expect.stringMatching(/^ads: name a folder .*or set BACKUP_DIR/) });
  const unmade = await fixture.ads(["backup", newFolder(), "--check"]);
  expect(unmade).toMatchObject({ code: 1, err: expect.stringMatching(/is not a whole backup/) });
  const nowhere = await fixture.ads(["backup", newFolder()]);
  expect(nowhere).toMatchObject({ code: 3, err: expect.stringMatching(/^ads: .*holds no store: set DATA_DIR/) });
});

test("a backup that is killed at any moment is never whole, and the next one replaces what it left", {
  tags: "long",
  // 20 s on a quiet machine, more than 180 s beside two browsers.
  timeout: 500_000,
}, async () => {
  const source = join(root, "data");
  const script = `
    import { backUp } from ${JSON.stringify(join(import.meta.dirname, "back-up.ts"))};
    console.log("begun");
    await backUp(JSON.parse(process.argv[1]), process.argv[2], { onProgress: () => {} });
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
    await backUp(configOf(source), target, { onProgress: silent });
    expect(existsSync(`${target}.partial`)).toBe(false);
    await restore(configOf(newFolder()), target, silent);
  }
});
