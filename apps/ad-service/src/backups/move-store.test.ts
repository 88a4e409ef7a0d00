import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createServerDatabase } from "@intermission/testing/test-database";
import S3rver from "s3rver";
import { expect, onTestFinished, test } from "vitest";
import { openCliFixture } from "../../test/fixtures/cli-fixture.ts";
import { bucketStorage } from "../creatives/bucket-storage.ts";
import { hashOfFile } from "../creatives/media-storage.ts";

const video = join(import.meta.dirname, "../../../../e2e/fixtures/clip-2s.mp4");

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "move-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("bots, campaigns and videos move from the embedded store to a server and back, with the same key only", {
  tags: "long",
  timeout: 240_000,
}, async () => {
  const fixture = await openCliFixture();
  onTestFinished(() => fixture.close());
  const server = await createServerDatabase();
  onTestFinished(server.drop);
  await fixture.makeStore();
  const withKey = { MODE: "demo", ENCRYPTION_KEY: fixture.encryptionKey };
  const done = async (words: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const ended = await fixture.ads(words, { ...withKey, ...env });
    expect(ended, ended.err).toMatchObject({ code: 0 });
    return ended.out;
  };
  await done(["bots", "add", "--bot-id", "7000000001", "--name", "Bot"]);
  const campaign = ["campaigns", "add", "--name", "Video", "--advertiser", "Shop", "--format", "rewarded"];
  await done([...campaign, "--video", video]);
  const [first, second] = [temporaryFolder(), temporaryFolder()];
  const onServer = { DATABASE_URL: server.url, DATA_DIR: temporaryFolder() };
  const embedded = { DATA_DIR: temporaryFolder() };
  const lists = async (env: NodeJS.ProcessEnv) =>
    Promise.all(
      [
        ["bots", "list"],
        ["campaigns", "list"],
        ["creatives", "list"],
        ["audit", "list"],
      ].map((words) => done(["--json", ...words], env)),
    );
  const before = await lists({});

  const failed = async (words: readonly string[], env: NodeJS.ProcessEnv) => {
    const { code, out, err } = await fixture.ads(words, { ...withKey, ...env });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    return err;
  };
  const otherKey = randomBytes(32).toString("base64");
  expect(await failed(["export", first], { ENCRYPTION_KEY: undefined })).toMatch(/ENCRYPTION_KEY is missing/);
  expect(await failed(["export", first], { ENCRYPTION_KEY: otherKey })).toMatch(/is not the key that the secrets/);
  const exported = JSON.parse(await done(["--json", "export", first]));
  expect(exported).toMatchObject({ missingFiles: [], tables: { bots: 1, campaigns: 1, creatives: 1 } });
  expect(await failed(["export", first], {})).toMatch(/is a whole export already: import it, or name another folder/);
  expect(await failed(["import", first], { ...onServer, ENCRYPTION_KEY: otherKey })).toMatch(
    /ENCRYPTION_KEY is not the key that the exported store was used with.*set that key/,
  );
  expect(await failed(["import", second], onServer)).toMatch(/is not a whole export, since it has no export.json/);
  await done(["import", first], onServer);
  expect(await lists(onServer)).toEqual(before);
  expect(await failed(["import", first], onServer)).toMatch(
    /the schema "ad_service" is in the store already.*the import is complete.*name an empty store/,
  );

  await done(["export", second], onServer);
  await done(["import", second], embedded);
  expect(await lists(embedded)).toEqual(before);
  const mediaOf = (folder: string) => {
    const media = join(folder, "ad-service/media");
    return readdirSync(media)
      .sort()
      .map((name) => [name, readFileSync(join(media, name)).toString("base64")]);
  };
  expect(mediaOf(embedded.DATA_DIR)).toEqual(mediaOf(fixture.dataDir));
});

test("videos move from a folder to a bucket, from a bucket to another one, and back to a folder", {
  tags: "long",
  timeout: 180_000,
}, async () => {
  const fixture = await openCliFixture();
  onTestFinished(() => fixture.close());
  await fixture.makeStore();
  const buckets = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory: temporaryFolder(),
    vhostBuckets: false,
    configureBuckets: ["first", "second"].map((name) => ({ name, configs: [] })),
  });
  const { port } = await buckets.run();
  onTestFinished(() => buckets.close());
  const withKey = { MODE: "demo", ENCRYPTION_KEY: fixture.encryptionKey };
  const inBucket = (name: string) => ({
    DATA_DIR: temporaryFolder(),
    S3_ENDPOINT: `http://127.0.0.1:${port}`,
    S3_BUCKET: name,
    S3_ACCESS_KEY_ID: "S3RVER",
    S3_SECRET_ACCESS_KEY: "S3RVER",
  });
  const done = async (words: readonly string[], env: NodeJS.ProcessEnv) => {
    const ended = await fixture.ads(["--json", ...words], { ...withKey, ...env });
    expect(ended, ended.err).toMatchObject({ code: 0 });
    return JSON.parse(ended.out);
  };
  const campaign = ["campaigns", "add", "--name", "Video", "--advertiser", "Shop", "--format", "rewarded"];
  await done([...campaign, "--video", video], {});

  const last = { DATA_DIR: temporaryFolder() };
  const stores = [{ DATA_DIR: fixture.dataDir }, inBucket("first"), inBucket("second"), last];
  for (const [index, to] of stores.slice(1).entries()) {
    const folder = temporaryFolder();
    expect(await done(["export", folder], stores[index] ?? {})).toMatchObject({ missingFiles: [] });
    await done(["import", folder], to);
  }
  const [creative] = await done(["creatives", "list"], {});
  for (const name of [creative.fileName, creative.posterFileName].filter((one) => one !== null)) {
    // The name of a file begins with the hash of its bytes.
    const [hash] = name.split(".");
    for (const bucket of ["first", "second"]) expect(await hashInBucket(port, bucket, name), bucket).toBe(hash);
    expect(await hashOfFile(join(last.DATA_DIR, "ad-service/media", name))).toBe(hash);
  }
});

async function hashInBucket(port: number, bucket: string, name: string): Promise<string> {
  const keys = { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" };
  const endpoint = `http://127.0.0.1:${port}`;
  const media = await bucketStorage({ kind: "bucket", endpoint, region: "us-east-1", bucket, ...keys });
  const found = await (await media.open(name))?.read(undefined);
  if (!found) return "missing";
  const hash = createHash("sha256");
  await pipeline(found.body, hash);
  return hash.digest("hex");
}

test("export and import name what to do where they cannot work", { tags: "long" }, async () => {
  const fixture = await openCliFixture();
  onTestFinished(() => fixture.close());
  const nowhere = await fixture.ads(["export", temporaryFolder()]);
  expect(nowhere).toMatchObject({ code: 1, err: expect.stringMatching(/^ads: .*holds no store/) });
  const remote = await fixture.ads(["--url", "http://127.0.0.1:1", "import", temporaryFolder()]);
  expect(remote).toMatchObject({ code: 1, err: expect.stringMatching(/run it on that machine, without --url/) });
  const folder = await fixture.ads(["import", join(temporaryFolder(), "none")]);
  expect(folder).toMatchObject({ code: 1, err: expect.stringMatching(/is not a whole export/) });
});
