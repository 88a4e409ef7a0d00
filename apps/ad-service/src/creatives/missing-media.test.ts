import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { Registry } from "prom-client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { addCampaign } from "../campaigns/change-campaign.ts";
import { migrations } from "../migrations.ts";
import { folderStorage } from "./media-storage.ts";
import { missingMedia, type ShownFiles, startCheckingMedia } from "./missing-media.ts";

const now = () => new Date("2026-03-01T12:00:00Z");
let store: TestDatabase;

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  const { database } = store;
  const insert = statement<never>(
    "test.insert-creative",
    `insert into creatives (creative_id, file_name, poster_file_name, media_type, duration_ms, width, height, renditions, created_at)
     values ($1, $2, $3, 'video/mp4', 2000, 640, 360, $4, now())`,
  );
  const light = JSON.stringify([{ fileName: "light.mp4", mediaType: "video/mp4", byteLength: 1, width: 1, height: 1 }]);
  await database.run(insert, ["cre_shown", "shown.mp4", "shown.jpg", light]);
  await database.run(insert, ["cre_unused", "unused.mp4", null, "[]"]);
  const campaign = { name: "Shop", advertiser: "Shop", formats: ["rewarded" as const], now: now() };
  await addCampaign(database, { ...campaign, campaignId: "cmp_1", creativeIds: ["cre_shown"] });
});
afterAll(() => store.dispose());

async function mediaFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "missing-media-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function checkOf(folder: string) {
  const lines: string[] = [];
  const line = (_facts: unknown, message?: string) => void lines.push(message ?? "");
  const registry = new Registry();
  const media = folderStorage(folder);
  const log = { error: line, warn: line, info: line };
  const check = await startCheckingMedia({ database: store.database, media, registry, log, now, everyMs: 20 });
  onTestFinished(() => check.stop());
  const metric = async () => Number(/^intermission_missing_media_files (\d+)$/m.exec(await registry.metrics())?.[1]);
  return { check, lines, metric };
}

test("a node without the others' media folder says so once, counts the files, and is not ready until it has a video", async () => {
  const folder = await mediaFolder();
  const { check, lines, metric } = await checkOf(folder);
  const named =
    /^3 of the 3 files of active creatives and pictures of bots are missing in the folder .*missing-media.*, of cre_shown:.*MEDIA_DIR/;
  expect(lines).toEqual([expect.stringMatching(named)]);
  expect(await metric()).toBe(3);
  expect(check.require).toThrow(named);
  for (const name of ["shown.mp4", "light.mp4"]) await writeFile(join(folder, name), "video");
  await expect.poll(metric).toBe(1);
  expect(check.require).not.toThrow();
  expect(check.warning()).toMatch(/^1 of the 3 files/);
  await writeFile(join(folder, "shown.jpg"), "poster");
  await expect.poll(check.warning).toBeUndefined();
  expect(lines.at(-1)).toBe("no media file is missing any more");
});

test("pictures of bots are looked for, too, and a bot that lacks one is named", async () => {
  const { database } = store;
  const fixture = await openAppFixture(database, { operatorToken: "o".repeat(32) });
  onTestFinished(() => fixture.close());
  const { botId } = await fixture.newBot();
  const update = "update bots set picture_file_name = $2, unit_icon_file_name = $3 where bot_id = $1";
  const set = (picture: string | null, icon: string | null) =>
    database.run(statement<never>("test.set-pictures", update), [botId, picture, icon]);
  const folder = await mediaFolder();
  for (const name of ["shown.mp4", "light.mp4", "shown.jpg", "face.webp"]) await writeFile(join(folder, name), "file");
  await set("face.webp", "coin.webp");
  onTestFinished(async () => void (await set(null, null)));
  const { check } = await checkOf(folder);
  expect(check.warning()).toContain(`of bot ${botId}:`);
  expect(check.warning()).toMatch(/^1 of the 5 files /);
  expect(check.require).not.toThrow();
  await writeFile(join(folder, "coin.webp"), "file");
  await expect.poll(check.warning).toBeUndefined();
});

test("nothing is known of a storage that does not answer: no file counts as missing, and the fault is logged", async () => {
  const lines: string[] = [];
  const line = (_facts: unknown, message?: string) => void lines.push(message ?? "");
  const failing = { ...folderStorage("/"), has: () => Promise.reject(new Error("no answer")) };
  const log = { error: line, warn: line, info: line };
  const registry = new Registry();
  const check = await startCheckingMedia({
    database: store.database,
    media: failing,
    registry,
    log,
    now,
    everyMs: 60_000,
  });
  onTestFinished(() => check.stop());
  expect(lines).toEqual(["the media files could not be checked"]);
  expect(check.warning()).toBeUndefined();
  expect(check.require).not.toThrow();
});

test("explain names the files of a campaign that this node lacks", async () => {
  const operatorToken = "o".repeat(32);
  const folder = await mediaFolder();
  const media = { kind: "folder" as const, folder, isMadeIfMissing: false };
  const fixture = await openAppFixture(store.database, { operatorToken, media });
  onTestFinished(() => fixture.close());
  const { botId } = await fixture.newBot();
  const explain = async () => {
    const url = `/operator/v1/explain?botId=${botId}&userId=1`;
    const answer = await fixture.app.inject({ url, headers: { authorization: `Bearer ${operatorToken}` } });
    return answer.json().campaigns[0];
  };
  expect(await explain()).toMatchObject({ campaignId: "cmp_1", missingFiles: ["shown.mp4", "light.mp4", "shown.jpg"] });
  for (const name of ["shown.mp4", "light.mp4", "shown.jpg"]) await writeFile(join(folder, name), "bytes");
  expect(await explain()).toMatchObject({ campaignId: "cmp_1", missingFiles: [] });
});

test("a node has no video only if there are some, and none of them is there; a creative elsewhere needs none", () => {
  const of = (owner: string, videos: string[], others: string[] = []): ShownFiles => ({
    owner,
    campaignIds: ["cmp_1"],
    videos,
    others,
  });
  const both = [of("cre_1", ["a.mp4"], ["a.jpg"]), of("cre_2", ["b.mp4"])];
  const has = (...files: string[]) => missingMedia(both, (file) => files.includes(file));
  expect(has()).toMatchObject({ missing: 3, hasNoVideo: true });
  expect(has("a.jpg")).toMatchObject({ missing: 2, hasNoVideo: true });
  expect(has("b.mp4")).toMatchObject({ missing: 2, hasNoVideo: false });
  expect(missingMedia([of("cre_3", [], ["c.jpg"])], () => false)).toMatchObject({ missing: 1, hasNoVideo: false });
  expect(missingMedia([], () => false)).toMatchObject({ missing: 0, hasNoVideo: false });
});
