import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askServer, startOtherCluster } from "@intermission/testing/copy-database";
import { mountSmallDisk } from "@intermission/testing/small-disk";
import { copyCluster, createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test, vi } from "vitest";
import { migrations } from "../src/migrations.ts";
import { openCliFixture } from "./fixtures/cli-fixture.ts";

// On a busy machine it takes long to create a store.
vi.setConfig({ testTimeout: 180_000 });

/** Starts the real program, and expects that it exits with 1 and one clear message. */
async function refusalOf(
  env: NodeJS.ProcessEnv,
  where: Parameters<typeof openCliFixture>[0] = undefined,
): Promise<string> {
  const fixture = await openCliFixture(where);
  if (where === undefined) onTestFinished(() => fixture.close());
  const { code, out, err } = await (await fixture.startServer(env)).end;
  expect({ code, out, err }).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^The ad service could not start: /),
  });
  expect(`${out}${err}`).not.toMatch(/^\s+at |Error:/m);
  return err;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "start-fault-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("a read-only file system is reported, with the folder", { tags: "long" }, async () => {
  const disk = await mountSmallDisk(10);
  onTestFinished(() => disk.remove());
  disk.makeReadOnly();
  expect(await refusalOf({}, disk)).toMatch(/small-disk-.*cannot be written \(EROFS\).*read-only.*DATA_DIR/);
});

test("a disk without space for a new store is reported", { tags: "long" }, async () => {
  const disk = await mountSmallDisk(10);
  onTestFinished(() => disk.remove());
  expect(await refusalOf({}, disk)).toMatch(/the disk of .*small-disk-.* is full.*free some space/);
});

test("a folder of another user is reported", { tags: "long" }, async () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o700);
  // Root may write anywhere; other users may not write at the root of the file system.
  const isRoot = process.getuid?.() === 0;
  const enter = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"] as const;
  const where = isRoot ? { folder, enter } : undefined;
  expect(await refusalOf(isRoot ? {} : { DATA_DIR: "/" }, where)).toMatch(
    /cannot be written \(E.*belongs to another user/,
  );
});

test("a file in place of the data folder is reported", { tags: "long" }, async () => {
  const file = join(temporaryFolder(), "data");
  writeFileSync(file, "");
  expect(await refusalOf({ DATA_DIR: file })).toMatch(/data.*cannot be used \(E(NOTDIR|EXIST)\).*DATA_DIR/);
});

test("an incomplete store is reported", { tags: "long" }, async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "postgres/base"), { recursive: true });
  expect(await refusalOf({ DATA_DIR: folder })).toMatch(/postgres is not a whole store, PG_VERSION.*from a backup/);
});

test("a damaged store is reported, with the database's message", { tags: "long" }, async () => {
  const folder = temporaryFolder();
  await copyCluster(folder, { schema: "ad_service", migrations });
  writeFileSync(join(folder, "postgres/global/pg_control"), Buffer.alloc(8192, 7));
  expect(await refusalOf({ DATA_DIR: folder })).toMatch(/database.*has failed \(FATAL: .*incompatible.*from a backup/);
});

test("a missing media folder is reported", { tags: "long" }, async () => {
  const folder = join(temporaryFolder(), "not-mounted");
  expect(await refusalOf({ MEDIA_DIR: folder })).toMatch(/not-mounted of MEDIA_DIR does not exist: mount or make it/);
});

test("a port in use is reported", { tags: "long" }, async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise((resolve) => void other.close(() => resolve())));
  const address = other.address();
  const port = String(address !== null && typeof address === "object" ? address.port : 0);
  const folder = temporaryFolder();
  await copyCluster(folder, { schema: "ad_service", migrations });
  expect(await refusalOf({ PORT: port, DATA_DIR: folder })).toContain(`port ${port} is taken`);
});

test.each([
  [
    "an unknown host",
    "postgres://me:hush-hush@no-such-host.invalid/ads",
    /host of DATABASE_URL \(no-such-host\.invalid\/ads\) is not known/,
  ],
  [
    "a refused connection",
    "postgres://me:hush-hush@127.0.0.1:1/ads",
    /DATABASE_URL \(127\.0\.0\.1:1\/ads\) does not answer \(ECONNREFUSED\)/,
  ],
  ["an invalid address", "postgres://me:hush-hush@:x/ads", /DATABASE_URL is no address as postgres:/],
  [
    "a stray percent sign",
    "postgres://me:hush-hush%@127.0.0.1/ads",
    /DATABASE_URL has a % that is no percent-encoding/,
  ],
])("a database fault is reported without the password: %s", { tags: "long" }, async (_name, url, message) => {
  const refusal = await refusalOf({ DATABASE_URL: url });
  expect(refusal).toMatch(message);
  expect(refusal).not.toContain("hush-hush");
});

const badlyEncoded = [
  ["@ and /", "postgres://me:p@hush/hush@127.0.0.1:5432/ads"],
  ["@ and #", "postgres://me:12@hush#hush@127.0.0.1:5432/ads"],
  ["@ and ?", "postgres://me:p@hush?hush@127.0.0.1:5432/ads"],
  ["/ after digits", "postgres://hush:12/hush@127.0.0.1:5432/ads"],
  ["# after digits", "postgres://hush:12#hush@127.0.0.1:5432/ads"],
  ["? after digits", "postgres://hush:12?hush=1@127.0.0.1:5432/ads"],
  ["# without an @ behind it", "postgres://me:p@hush#hush"],
  ["/ after letters", "postgres://me:hush/hush@127.0.0.1:5432/ads"],
  [": and /", "postgres://me:hush:hush/@127.0.0.1:5432/ads"],
  ["%", "postgres://me:hush%zz@127.0.0.1:5432/ads"],
  ["a blank", "postgres://me:hush hush@127.0.0.1:5432/ads"],
] as const;
for (const [name, url] of badlyEncoded) {
  test(`no piece of a password that is not percent-encoded is shown: ${name}`, { tags: "long" }, async () => {
    const refusal = await refusalOf({ DATABASE_URL: url });
    expect(refusal).toMatch(/^ {2}DATABASE_URL .*percent-encoded: @ as %40/m);
    expect(refusal).not.toContain("hush");
  });
}

test("faults of several variables are reported together", async () => {
  const refusal = await refusalOf({
    TRUST_PROXY: "everyone",
    PORT: "http",
    LOG_LEVEL: "loud",
    DATABASE_URL: "mysql://x",
  });
  for (const name of ["TRUST_PROXY", "PORT", "LOG_LEVEL", "DATABASE_URL"]) {
    expect(refusal).toMatch(new RegExp(`^ {2}${name} `, "m"));
  }
});

test("a database that refuses access, does not exist or has another schema is reported", {
  tags: "long",
  timeout: 180_000,
}, async () => {
  const cluster = await startOtherCluster();
  onTestFinished(cluster.stop);
  const admin = new URL(cluster.url);
  // Not the database that becomes read-only.
  admin.pathname = "/template1";
  const ask = (sql: string) => askServer(cluster.url, sql);
  const at = (changes: { username?: string; password?: string; pathname?: string }) =>
    Object.assign(new URL(cluster.url), changes).href;
  expect(await refusalOf({ DATABASE_URL: at({ pathname: "/nowhere" }) })).toMatch(
    /"nowhere" does not exist: create it/,
  );
  await ask("create schema ad_service; create table ad_service.migrations (name text, checksum text)");
  await ask("insert into ad_service.migrations values ('9999-future', 'x')");
  expect(await refusalOf({ DATABASE_URL: cluster.url })).toMatch(
    /ad_service" is of a newer version: it has 9999-future, and this version ends with \d{4}-.*; start the version that made this/,
  );
  await ask("update ad_service.migrations set name = '0001-schema'");
  expect(await refusalOf({ DATABASE_URL: cluster.url })).toMatch(
    /^The ad service could not start: the migration 0001-schema of .* was changed after it ran: it ran with the checksum x, .*npm run reset.*\n$/,
  );
  await ask("drop table ad_service.migrations; alter database postgres set default_transaction_read_only = on");
  expect(await refusalOf({ DATABASE_URL: cluster.url })).toMatch(/is read-only: name the primary server/);

  await askServer(admin.href, "alter database postgres reset default_transaction_read_only");
  await ask(
    "drop schema ad_service cascade; create role limited login password 'right'; revoke create on database postgres from public",
  );
  const [setting] = await ask("show hba_file");
  await ask(`copy (values ('host all postgres 127.0.0.1/32 trust'), ('host all all 127.0.0.1/32 scram-sha-256'))
    to '${setting?.hba_file}'; select pg_reload_conf()`);
  const wrong = await refusalOf({ DATABASE_URL: at({ username: "limited", password: "hush-hush" }) });
  expect(wrong).toMatch(/refused us: password authentication failed for user "limited"; correct the user or password/);
  expect(wrong).not.toContain("hush-hush");
  expect(await refusalOf({ DATABASE_URL: at({ username: "limited", password: "right" }) })).toMatch(/lacks a right/);
});

test("another ENCRYPTION_KEY than that of the stored tokens is refused, by the server and by a command line without one", {
  tags: "long",
}, async () => {
  const fixture = await openCliFixture();
  onTestFinished(() => fixture.close());
  await fixture.makeStore();
  const another = Buffer.alloc(32, 7).toString("base64");
  const message = /ENCRYPTION_KEY is not the key that the stored tokens/;
  const add = ["bots", "add", "--bot-id", "7000000001", "--name", "Bot"];
  expect((await fixture.ads(add, { MODE: "demo", ENCRYPTION_KEY: fixture.encryptionKey })).code).toBe(0);
  const { code, err } = await (await fixture.startServer({ ENCRYPTION_KEY: another })).end;
  expect({ code, err }).toMatchObject({ code: 1, err: expect.stringMatching(message) });
  expect(err).not.toMatch(/^\s+at /m);
  // A process of its own, which must end although it has opened the store.
  const refused = await fixture.adsProcess(["tokens", "create", "--bot-id", "7000000001"], {
    MODE: "demo",
    ENCRYPTION_KEY: another,
  });
  expect({ code: refused.code, err: refused.err }).toMatchObject({ code: 3, err: expect.stringMatching(message) });
});

test("DATABASE_URL over a folder with a store is said, and a page that is not built; without DATABASE_URL, neither a command nor a server uses the abandoned store", {
  tags: "long",
}, async () => {
  const fixture = await openCliFixture();
  onTestFinished(() => fixture.close());
  const other = await createServerDatabase();
  onTestFinished(other.drop);
  await fixture.makeStore();
  const server = await fixture.startServer({
    DATABASE_URL: other.url,
    MINIAPP_DIR: join(fixture.dataDir, "not-built"),
  });
  expect(server.ended.out).toMatch(/no built mini-app in .*not-built: run `npm run build`/);
  expect(server.ended.out).toMatch(/DATABASE_URL is set, so the store in .* is not used/);
  server.child.kill();
  expect((await server.end).code).toBe(0);

  const message =
    /the store in .* is not in use: since \d{4}-.* the server uses the database 127\.0\.0\.1:.*remove .*json/;
  const env = { MODE: "demo", ENCRYPTION_KEY: fixture.encryptionKey };
  const add = ["bots", "add", "--bot-id", "7000000001", "--name", "Bot"];
  const refused = await fixture.ads(add, env);
  expect({ code: refused.code, err: refused.err }).toMatchObject({ code: 3, err: expect.stringMatching(message) });
  expect(await (await fixture.startServer()).end).toMatchObject({ code: 1, err: expect.stringMatching(message) });
  expect((await fixture.ads(add, { ...env, DATABASE_URL: other.url })).code).toBe(0);
  rmSync(join(fixture.dataDir, "ad-service/uses-database-server.json"));
  expect(JSON.parse((await fixture.ads(["bots", "list", "--json"], env)).out)).toEqual([]);
});

test("a start with another CURRENCY than that of the store's amounts is refused", { tags: "long" }, async () => {
  const fixture = await openCliFixture();
  onTestFinished(() => fixture.close());
  await fixture.makeStore();
  const campaign = ["campaigns", "add", "--name", "Shop", "--advertiser", "Shop", "--format", "direct_link"];
  const paid = ["--landing-url", "https://shop.example/", "--click-price", "0.10", "--yes"];
  const added = await fixture.ads([...campaign, ...paid], { MODE: "demo", ENCRYPTION_KEY: fixture.encryptionKey });
  expect(added).toMatchObject({ code: 0, err: "" });
  const command = await fixture.adsProcess(["bots", "list"], {
    ENCRYPTION_KEY: fixture.encryptionKey,
    CURRENCY: "JPY",
  });
  expect(command).toMatchObject({ code: 3, err: expect.stringMatching(/^ads: CURRENCY is JPY.*set CURRENCY=USD/) });
  const refused = await (await fixture.startServer({ CURRENCY: "JPY" })).end;
  expect(refused.err).toMatch(
    /^The ad service could not start: CURRENCY is JPY, and the amounts in the store are in USD.*set CURRENCY=USD/,
  );
});

test("a node that has another media folder than the one of the videos says so, and is not ready; with the right one it is", {
  tags: "long",
}, async () => {
  const fixture = await openCliFixture();
  onTestFinished(() => fixture.close());
  await fixture.makeStore();
  const video = join(import.meta.dirname, "../../../e2e/fixtures/clip-2s.mp4");
  const add = ["campaigns", "add", "--name", "Video", "--advertiser", "Shop", "--format", "rewarded", "--video", video];
  const added = await fixture.ads(add, { MODE: "demo", ENCRYPTION_KEY: fixture.encryptionKey });
  expect(added).toMatchObject({ code: 0, err: "" });
  const readiness = async (env: NodeJS.ProcessEnv) => {
    const server = await fixture.startServer({ MINIAPP_URL: "https://elsewhere.example/app", ...env });
    const answer = await fetch(`${fixture.address}/readyz`);
    const body = await answer.json();
    server.child.kill();
    const { out } = await server.end;
    return { status: answer.status, body, out };
  };
  const message =
    /^[23] of the [23] files of active creatives and pictures of bots are missing in the folder .*start-fault-.*MEDIA_DIR/;
  const without = await readiness({ MEDIA_DIR: temporaryFolder() });
  expect(without).toMatchObject({
    status: 503,
    body: { status: "not-ready", reason: expect.stringMatching(message) },
    out: expect.stringContaining("files of active creatives and pictures of bots are missing"),
  });
  expect(await readiness({})).toMatchObject({ status: 200, body: { status: "ready" } });
});
