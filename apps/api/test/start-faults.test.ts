import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mountSmallDisk, type SmallDisk } from "@intermission/testing/small-disk";
import { copyCluster } from "@intermission/testing/test-database";
import { expect, onTestFinished, test, vi } from "vitest";
import { migrations } from "../src/migrations.ts";
import { testConfig, testToken } from "./fixtures/api-fixture.ts";

const sound = {
  MODE: "demo",
  PORT: "0",
  AD_SERVICE_URL: "http://127.0.0.1:9",
  BOT_ID: testConfig.botId,
  AD_API_TOKENS: testToken,
  TELEGRAM_BOT_TOKEN: testConfig.telegramBotToken,
  BACKEND_API_KEY: testConfig.backendApiKey,
  MINIAPP_URL: "http://127.0.0.1:9",
  DIRECT_LINK_URL: "http://127.0.0.1:9",
};

// On a busy machine it takes long to create a store.
vi.setConfig({ testTimeout: 180_000 });

/** Starts the real program, and expects that it exits with 1 and one clear message. */
async function refusalOf(env: NodeJS.ProcessEnv, enter: readonly string[] = []): Promise<string> {
  const [program = "", ...words] = [...enter, process.execPath, join(import.meta.dirname, "../src/main.ts")];
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(program, words, { env: { PATH, NODE_COMPILE_CACHE, ...sound, ...env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect({ code, output }).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^The companion API could not start: /m),
  });
  expect(output).not.toMatch(/^\s+at |Error:/m);
  return output;
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "start-fault-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function smallDisk(): Promise<SmallDisk> {
  const disk = await mountSmallDisk(10);
  onTestFinished(() => disk.remove());
  return disk;
}

test("a read-only file system is reported, with the folder", { tags: "long" }, async () => {
  const disk = await smallDisk();
  disk.makeReadOnly();
  expect(await refusalOf({ DATA_DIR: disk.folder }, disk.enter)).toMatch(/small-disk-.*\(EROFS\).*read-only.*DATA_DIR/);
});

test("a disk without space for a new store is reported", { tags: "long" }, async () => {
  const disk = await smallDisk();
  expect(await refusalOf({ DATA_DIR: disk.folder }, disk.enter)).toMatch(/the disk of .* is full.*free some space/);
});

test("an incomplete store is reported, and not filled again", { tags: "long" }, async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "postgres/base"), { recursive: true });
  expect(await refusalOf({ DATA_DIR: folder })).toMatch(/postgres is not a whole store, PG_VERSION.*from a backup/);
  expect(existsSync(join(folder, "postgres/PG_VERSION"))).toBe(false);
});

test("a port in use is reported", { tags: "long" }, async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise((resolve) => void other.close(() => resolve())));
  const address = other.address();
  const port = String(address !== null && typeof address === "object" ? address.port : 0);
  const folder = temporaryFolder();
  await copyCluster(folder, { schema: "api", migrations });
  expect(await refusalOf({ PORT: port, DATA_DIR: folder })).toContain(`port ${port} is taken`);
});

const databaseFaults = [
  [
    "an unknown host",
    "postgres://me:hush-hush@no-such-host.invalid/ads",
    /\(no-such-host\.invalid\/ads\) is not known/,
    "long",
  ],
  ["a refused connection", "postgres://me:hush-hush@127.0.0.1:1/ads", /does not answer \(ECONNREFUSED\)/, ""],
] as const;
for (const [name, url, message, tag] of databaseFaults)
  test(`a database fault is reported without the password: ${name}`, { tags: tag === "" ? [] : [tag] }, async () => {
    const refusal = await refusalOf({ DATABASE_URL: url });
    expect(refusal).toMatch(message);
    expect(refusal).not.toContain("hush-hush");
  });

for (const url of ["postgres://me:p@hush/hush@127.0.0.1/ads", "postgres://hush:12#hush@127.0.0.1/ads"]) {
  test(`no piece of a password that is not percent-encoded is told: ${url}`, { tags: "long" }, async () => {
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

test("a store that DATABASE_URL has replaced is neither served nor changed by a command without it", {
  tags: "long",
}, async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "postgres"));
  writeFileSync(join(folder, "postgres/PG_VERSION"), "18\n");
  mkdirSync(join(folder, "api"));
  const facts = { database: "db.example:5432/bots", since: "2026-03-01T12:00:00.000Z" };
  writeFileSync(join(folder, "api/uses-database-server.json"), JSON.stringify(facts));
  const message =
    /is not in use: since 2026-03-01T12:00:00\.000Z the server uses the database db\.example:5432\/bots\. Set/;
  expect(await refusalOf({ DATA_DIR: folder })).toMatch(message);
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const words = [join(import.meta.dirname, "../src/cli.ts"), "rewards", "balance", "1"];
  const env = { PATH, NODE_COMPILE_CACHE, DATA_DIR: folder };
  const { status, stderr } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 3, stderr: expect.stringMatching(message) });
});
