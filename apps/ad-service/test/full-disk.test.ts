// @module-tag long
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, statement } from "@intermission/postgres/open-database";
import { missingForClusterOnDisk, startClusterOnDisk } from "@intermission/testing/cluster-on-disk";
import { mountSmallDisk, type SmallDisk } from "@intermission/testing/small-disk";
import { copyCluster } from "@intermission/testing/test-database";
import { expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { newTelegramId } from "./fixtures/app-fixture.ts";
import { type CliFixture, openCliFixture } from "./fixtures/cli-fixture.ts";

const phone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";

test("on a full disk the server exits with a clear line, and every acknowledged code and click exists after a restart", async () => {
  const disk = await mountSmallDisk(120);
  await putStoreOn(disk);
  const fixture = await openCliFixture(disk);
  const limits = limitsWithPage();
  try {
    const server = await fixture.startServer({ ...limits, TRUST_PROXY: "127.0.0.1", LOG_LEVEL: "warn" });
    const { botId, token } = await newBotWithLink(fixture);
    const work = keepWriting(fixture.address, botId, token);
    await expect.poll(() => work.clicks.length, { timeout: 30_000 }).toBeGreaterThan(300);
    // Enough space for rows, but not for the next WAL segment: the engine then panics at a commit.
    disk.fill({ leaveMegabytes: 10 });
    const { code, out } = await server.end;
    await work.stop();
    disk.fill();
    expect(code).toBeGreaterThan(0);
    expect(out).toMatch(/"level":60.*the disk .* is full.*(free|make room)/i);
    const stillFull = await fixture.startServer(limits).then(({ end }) => end);
    expect(stillFull).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^The ad service could not start: the disk .* is full/),
    });
    expect(stillFull.err).not.toMatch(/^ +at /m);

    disk.free();
    const again = await fixture.startServer(limits);
    const ready = await fetch(`${fixture.address}/readyz`);
    expect(ready.status, await ready.text()).toBe(200);
    const stored = await describeAll(fixture.address, token, work.codes);
    again.child.kill("SIGTERM");
    expect((await again.end).code).toBe(0);
    expect(work.codes.filter((code) => !stored.has(code))).toEqual([]);
    expect(work.clicks.filter((code) => !stored.get(code)?.includes("direct_link"))).toEqual([]);
  } finally {
    await disk.remove();
  }
}, 240_000);

const missing = missingForClusterOnDisk();
if (missing !== undefined) console.log(`!!! No disk of a database server was filled: ${missing}`);

test.skipIf(missing !== undefined)(
  "while the disk of a database server is full requests are answered 503, and all goes on by itself once there is space",
  async () => {
    const disk = await mountSmallDisk(130);
    const cluster = await startClusterOnDisk(disk);
    const fixture = await openCliFixture();
    const limits = limitsWithPage();
    const env = { DATABASE_URL: cluster.url, ENCRYPTION_KEY: fixture.encryptionKey };
    try {
      const server = await fixture.startServer({ ...env, ...limits, TRUST_PROXY: "127.0.0.1", LOG_LEVEL: "warn" });
      const operator = { ADS_URL: fixture.address, OPERATOR_TOKEN: fixture.operatorToken };
      const { botId, token } = await newBotWithLink(fixture, operator);
      const work = keepWriting(fixture.address, botId, token);
      await expect.poll(() => work.clicks.length, { timeout: 60_000 }).toBeGreaterThan(300);
      cluster.supervise();
      disk.fill();
      const refusedBefore = work.refused.get(503) ?? 0;
      await expect.poll(() => work.refused.get(503) ?? 0, { timeout: 60_000 }).toBeGreaterThan(refusedBefore + 50);
      expect(server.child.exitCode).toBeNull();
      const readiness = async () => {
        const answer = await fetch(`${fixture.address}/readyz`);
        return await answer.json();
      };
      const reason = expect.stringMatching(/^the disk of the database is full/);
      await expect.poll(readiness, { timeout: 60_000 }).toMatchObject({ status: "not-ready", reason });
      disk.free();
      await expect.poll(readiness, { timeout: 60_000 }).toMatchObject({ status: "ready" });
      const written = work.clicks.length;
      await expect.poll(() => work.clicks.length, { timeout: 60_000 }).toBeGreaterThan(written + 300);
      await work.stop();
      expect([...work.refused.keys()].filter((status) => status >= 500 && status !== 503)).toEqual([]);
      const stored = await describeAll(fixture.address, token, work.codes);
      expect(work.codes.filter((code) => !stored.has(code))).toEqual([]);
      expect(work.clicks.filter((code) => !stored.get(code)?.includes("direct_link"))).toEqual([]);
      server.child.kill("SIGTERM");
      const { code, out } = await server.end;
      expect(code).toBe(0);
      expect(out).toMatch(/No space left on device|could not extend file/);
    } finally {
      await fixture.close();
      await cluster.stop();
      await disk.remove();
    }
  },
  240_000,
);

/** A server is ready only with a built mini-app. */
function limitsWithPage() {
  const folder = mkdtempSync(join(tmpdir(), "miniapp-"));
  writeFileSync(join(folder, "index.html"), "<!doctype html>");
  return { RATE_LIMIT_PER_TOKEN: "1000000", RATE_LIMIT_PER_USER: "1000000", MINIAPP_DIR: folder };
}

/** A store whose WAL segment has a third left, so that the next segment is needed after a thousand calls. */
async function putStoreOn({ enter: [program, ...words], folder }: SmallDisk): Promise<void> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "full-disk-"));
  await copyCluster(dataDirectory, { schema: "ad_service", migrations });
  const database = await openDatabase({ dataDirectory, schema: "ad_service", migrations });
  while (((await database.run(writeToLog, []))[0]?.megabytes ?? 0) % 16 < 11);
  await database.close();
  execFileSync(program, [...words, "cp", "-a", join(dataDirectory, "postgres"), folder]);
  rmSync(dataDirectory, { recursive: true });
}

const writeToLog = statement<{ megabytes: number }>(
  "test.write-to-log",
  `select pg_wal_lsn_diff(pg_logical_emit_message(false, 'test', repeat('x', 500000)), '0/0')::float8 / 1048576 as megabytes`,
);

async function newBotWithLink(fixture: CliFixture, env: NodeJS.ProcessEnv = {}) {
  const botId = newTelegramId();
  const bot = ["bots", "add", "--bot-id", botId, "--suspicious-clicks", "pay", "--json"];
  const added = await fixture.adsProcess(bot, env);
  const link = [
    "--format",
    "direct_link",
    "--landing-url",
    "https://shop.example/",
    "--click-price",
    "0.001",
    "--billing",
    "credit",
  ];
  const campaign = await fixture.adsProcess(
    ["campaigns", "add", "--name", "Link", "--advertiser", "Shop", ...link],
    env,
  );
  expect([added.err, campaign.err]).toEqual(["", ""]);
  const { token }: { token: string } = JSON.parse(added.out);
  return { botId, token };
}

/** Issues codes and follows their links, until the server exits or the caller stops it. */
function keepWriting(address: string, botId: string, token: string) {
  const codes: string[] = [];
  const clicks: string[] = [];
  /** How often each other status was answered. */
  const refused = new Map<number, number>();
  const countRefusal = ({ status }: Response) => refused.set(status, (refused.get(status) ?? 0) + 1);
  let isOver = false;
  let users = 0;

  async function write(): Promise<void> {
    const user = ++users;
    const issued = await fetch(`${address}/client/v1/codes`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ bot_id: botId, user_tg_id: String(1000 + user) }),
    });
    const answer = await issued.text();
    if (issued.status !== 200) return void countRefusal(issued);
    const { code } = JSON.parse(answer);
    codes.push(code);
    const from = `198.${18 + (user % 2)}.${(user >> 8) % 256}.${user % 256}`;
    const followed = await fetch(`${address}/${code}`, {
      headers: { "user-agent": phone, "accept-language": "en", "x-forwarded-for": from },
      redirect: "manual",
    });
    await followed.text();
    if (followed.status === 302) clicks.push(code);
    else countRefusal(followed);
  }
  async function writeUntilOver(): Promise<void> {
    // After the process has exited there is no answer.
    while (!isOver) await write().catch(() => new Promise((resolve) => setTimeout(resolve, 100)));
  }
  const writers = Array.from({ length: 16 }, writeUntilOver);
  return {
    codes,
    clicks,
    refused,
    async stop() {
      isOver = true;
      await Promise.all(writers);
    },
  };
}

/** The earnings of each code; unknown codes are left out. */
async function describeAll(address: string, token: string, codes: readonly string[]): Promise<Map<string, string[]>> {
  const stored = new Map<string, string[]>();
  const left = [...codes];
  async function describeUntilDone(): Promise<void> {
    for (let code = left.pop(); code !== undefined; code = left.pop()) {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${address}/client/v1/codes/${code}`, { headers });
      const text = await answer.text();
      if (answer.status !== 200 && answer.status !== 404) throw new Error(`${answer.status}: ${text}`);
      const earned: { event: string }[] = answer.status === 200 ? JSON.parse(text).earned : [];
      if (answer.status === 200)
        stored.set(
          code,
          earned.map(({ event }) => event),
        );
    }
  }
  await Promise.all(Array.from({ length: 16 }, describeUntilDone));
  return stored;
}
