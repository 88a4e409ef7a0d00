import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Database, openDatabase } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { openCliFixture } from "../../test/fixtures/cli-fixture.ts";
import { settleUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { untilSettled } from "../../test/fixtures/settled-log.ts";
import { folderStorage, type MediaStorage } from "../creatives/media-storage.ts";
import { migrations } from "../migrations.ts";
import { issueStatements } from "../money/statements.ts";
import { appendEntries } from "./append-entries.ts";
import { continueLog, type PublishDeps } from "./publish-log.ts";
import { readCurrentLog, rootOf } from "./read-log.ts";
import { checkpointText, noteKeyOf, signNote } from "./signed-note.ts";
import { tilePath, tilesSince } from "./tiles.ts";

const verifier = fileURLToPath(new URL("../../../../clients/billing-log/verify.mjs", import.meta.url));
const operatorToken = "o".repeat(32);
const encryptionKey = Buffer.alloc(32, 7);
const botId = "910";

let store: TestDatabase;
let fixture: AppFixture;
let folder: string;
const run = <Row>(text: string, ...values: unknown[]) => store.database.run<Row>({ name: "", text }, values);

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  folder = await mkdtemp(join(tmpdir(), "intermission-log-"));
  fixture = await openAppFixture(store.database, { operatorToken, encryptionKey });
  await run("insert into deployment (currency) values ('USD')");
  await run("insert into bots (bot_id, code_prefix, name) values ($1, '0910', 'Quiz')", botId);
  await run("insert into advertisers (advertiser_id, name, name_key) values ('adv_shop', 'Shop', 'shop')");
  await run(`insert into campaigns (campaign_id, name, advertiser_id, formats)
    values ('cmp_1', 'One', 'adv_shop', '{rewarded,direct_link}'), ('cmp_2', 'Two', 'adv_shop', '{direct_link}')`);
  await run(`insert into creatives (creative_id, kind, file_name, sha256, media_type, duration_ms, width, height)
    values ('cre_a', 'file', 'a.mp4', repeat('ab', 32), 'video/mp4', 15000, 16, 9)`);
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
  await rm(folder, { recursive: true, force: true });
});

const depsOf = (database: Database = store.database, media: MediaStorage = folderStorage(fixture.mediaFolder)) => {
  const deps: PublishDeps = {
    database,
    secretBox: fixture.secretBox,
    media,
    publicUrl: "http://ads.test",
    log: fixture.app.log,
  };
  return deps;
};

interface Billed {
  event?: "rewarded" | "direct_link" | "task";
  price?: number | null;
  campaignId?: string;
  at?: string;
}

async function bill(of: Billed = {}, database: Pick<Database, "run"> = store.database): Promise<string> {
  const { event = "direct_link", price = 1500, campaignId = "cmp_1", at = "2026-03-01T12:00:00Z" } = of;
  const eventId = `evt_${randomUUID()}`;
  const text = `insert into events (event_id, code, bot_id, user_id, campaign_id, creative_id, event, price_micros, revenue_micros,
    occurred_at) values ($1, $1, $2, '1', $3, 'cre_a', $4, $5::bigint, $5::bigint / 2, $6)`;
  await database.run({ name: "", text }, [eventId, botId, campaignId, event, price, at]);
  return eventId;
}

async function refund(eventId: string): Promise<void> {
  await run(
    `insert into refunds (event_id, bot_id, campaign_id, creative_id, event, price_micros, revenue_micros, charged_at, occurred_at)
     select event_id, bot_id, campaign_id, creative_id, event, price_micros, revenue_micros, occurred_at, occurred_at from events
     where event_id = $1`,
    eventId,
  );
}

async function continueToEnd(deps = depsOf()): Promise<void> {
  await untilSettled(store.database, () => continueLog(deps));
}

async function currentLog(database = store.database) {
  const log = await readCurrentLog(database);
  if (log === undefined) throw new Error("there is no log");
  return log;
}

/** Runs verify.mjs as an advertiser does. */
async function verify(...words: string[]): Promise<{ isRight: boolean; says: string }> {
  const { verifierKey } = await currentLog();
  const [command = "", ...others] = words;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [
      verifier,
      command,
      ...others,
      "--key",
      verifierKey,
    ]);
    return { isRight: true, says: stdout };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    expect(code, stdout).toBe(1);
    return { isRight: false, says: stdout };
  }
}

async function fileOf(text: string): Promise<string> {
  const path = join(folder, randomUUID());
  await writeFile(path, text);
  return path;
}

async function get(path: string): Promise<string> {
  const headers = { authorization: `Bearer ${operatorToken}` };
  const answer = await fetch(`${fixture.address}/operator/v1${path}`, { headers });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return text;
}

/** All files of the log, as it serves them. */
async function mirror(): Promise<string> {
  const to = join(folder, randomUUID());
  const { publishedSize } = await currentLog();
  for (const path of ["checkpoint", ...tilesSince(0, publishedSize).map(tilePath)]) {
    const answer = await fetch(`${fixture.address}/log/${path}`);
    expect(answer.status, path).toBe(200);
    await mkdir(dirname(join(to, path)), { recursive: true });
    await writeFile(join(to, path), Buffer.from(await answer.arrayBuffer()));
  }
  return to;
}

test("each billed event and refund has one entry, in the order of commits, and nothing else has", async () => {
  const view = await bill({ event: "rewarded", price: 4000 });
  await run(
    `insert into views (bot_id, view_id, code, user_id, campaign_id, creative_id, duration_ms, opened_at, deadline, token_hash,
       state, accepted_ms, started_at)
     values ($1, $1 || '-0910', $2, '1', 'cmp_1', 'cre_a', 15000, '2026-03-01T11:59:40Z', '2026-03-01T13:00:00Z', '\\x00',
       'rewarded', 14990, '2026-03-01T11:59:44.123Z')`,
    botId,
    view,
  );
  const click = await bill();
  await refund(click);
  const task = await bill({ event: "task", price: 9000 });
  await bill({ price: null });
  await bill({ price: 0 });
  await continueToEnd();
  await continueToEnd();
  const rows = await run<{ entry: string }>("select entry from billing_log_entries order by log_index");
  const creative = "ab".repeat(32);
  expect(rows.map(({ entry }) => JSON.parse(entry))).toEqual([
    {
      kind: "view",
      event: view,
      campaign: "cmp_1",
      creative,
      at: "2026-03-01T12:00:00.000Z",
      start: "2026-03-01T11:59:44.123Z",
      ms: 14_990,
      price: "4000",
    },
    {
      kind: "click",
      event: click,
      campaign: "cmp_1",
      creative,
      at: "2026-03-01T12:00:00.000Z",
      start: "2026-03-01T12:00:00.000Z",
      price: "1500",
    },
    { kind: "refund", event: click, campaign: "cmp_1", creative, at: "2026-03-01T12:00:00.000Z", price: "1500" },
    { kind: "task", event: task, campaign: "cmp_1", creative, at: "2026-03-01T12:00:00.000Z", price: "9000" },
  ]);
  await expect(run("update billing_log_entries set entry = '{}'")).rejects.toThrow("append-only");
});

test("the log is served with its headers, and verify.mjs confirms it as a whole and each event", async () => {
  for (let count = 0; count < 600; count++) await bill({ at: "2026-03-02T00:00:00Z" });
  const since = await fileOf((await currentLog()).checkpoint ?? "");
  await continueToEnd();
  const checkpoint = await fetch(`${fixture.address}/log/checkpoint`);
  expect(Object.fromEntries(checkpoint.headers)).toMatchObject({
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "public, max-age=2",
    "access-control-allow-origin": "*",
  });
  const [origin, size] = (await checkpoint.text()).split("\n");
  expect([origin, size]).toEqual(["ads.test/log", "604"]);
  const bundle = await fetch(`${fixture.address}/log/tile/entries/001`);
  expect(Object.fromEntries(bundle.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "cache-control": "public, max-age=31536000, immutable",
    "content-encoding": "gzip",
  });
  for (const path of [
    "/log/tile/0/003",
    "/log/tile/0/002.p/93",
    "/log/tile/1/000",
    "/log/tile/0/2",
    "/log-2/checkpoint",
  ])
    expect((await fetch(`${fixture.address}${path}`)).status, path).toBe(404);
  // Whole tiles are files; the partial ones and a lost file come from the database.
  const lost = join(fixture.mediaFolder, `log-${(await currentLog()).verifierKey.split("+")[1]}`, "tile/0/000");
  await rm(lost);
  const whole = await verify("log", `${fixture.address}/log`, "--since", since);
  expect(whole, whole.says).toMatchObject({ isRight: true });
  expect(whole.says).toContain("It begins with the tree of 4 entries that was signed before.");

  const [{ event_id: eventId } = { event_id: "" }] = await run<{ event_id: string }>(
    "select event_id from billing_log_entries where log_index = 300",
  );
  const proof = await get(`/billing-log/events/${eventId}`);
  expect(await verify("event", await fileOf(proof))).toMatchObject({ isRight: true });
  const changed = proof.replace(/^extra (.*)$/m, (_, extra) => {
    const entry = Buffer.from(extra, "base64").toString().replace('"1500"', '"1400"');
    return `extra ${Buffer.from(entry).toString("base64")}`;
  });
  expect((await verify("event", await fileOf(changed))).says).toContain("does not stand in the log");
});

interface ProofFile {
  statement: { chargesMicros: string };
  entries: { index: number; entry: string }[];
}

test("a statement carries its proof: a changed price, a dropped row and a reordered entry are each found", async () => {
  await bill({ campaignId: "cmp_2", price: 9_000_000, at: "2026-03-31T23:59:59Z" });
  await bill({ campaignId: "cmp_2", price: 7, at: "2026-04-01T00:00:00Z" });
  await settleUntilNow(store.database);
  await run("update money_progress set settled_until = '2026-04-02'");
  await issueStatements(store.database);
  await continueToEnd();
  const [{ number } = { number: 0 }] = await run<{ number: number }>(
    "select number from money_statements where account = 'advertiser:adv_shop'",
  );
  const proof = await get(`/money/advertisers/Shop/statements/${number}/proof`);
  const log = `${fixture.address}/log`;
  const right = await verify("statement", await fileOf(proof), "--log", log);
  expect(right, right.says).toMatchObject({ isRight: true });
  expect(right.says).toContain("All 605 entries of statement");
  expect(right.says).toContain("Its charges are 9.9145 USD, the sum of its entries.");
  expect(right.says).toContain("Its refunds are 0.0015 USD, the sum of its entries.");

  const changed = async (change: (file: ProofFile) => void) => {
    const file: ProofFile = JSON.parse(proof);
    change(file);
    return verify("statement", await fileOf(JSON.stringify(file)), "--log", log);
  };
  const price = await changed(({ entries: [, second] }) => {
    if (second) second.entry = second.entry.replace('"1500"', '"1400"');
  });
  expect(price.says).toContain("Entry 1 is another one in the log");
  expect(price.says).toContain("its entries sum to 9.9144 USD");
  const amount = await changed(({ statement }) => {
    statement.chargesMicros = "9914501";
  });
  expect(amount.says).toContain("Its charges are 9.914501 USD, but its entries sum to 9.9145 USD.");
  const dropped = await changed(({ entries }) => entries.splice(5, 1));
  expect(dropped.says).toContain("DOES NOT HOLD");
  const reordered = await changed(({ entries: [, , third, fourth] }) => {
    if (third && fourth) [third.entry, fourth.entry] = [fourth.entry, third.entry];
  });
  expect(reordered.says).toContain("Entry 2 is another one in the log");
  expect(reordered.says).toContain("Entry 3 is another one in the log");
});

test("a proof is made of windows: no query returns more, and its text is that of one window", async () => {
  const [{ number } = { number: 0 }] = await run<{ number: number }>("select number from money_statements");
  const { proveStatement } = await import("./statement-proof.ts");
  let mostRows = 0;
  const counted: Database = {
    ...store.database,
    async run(of, values) {
      const rows = await store.database.run(of, values);
      mostRows = Math.max(mostRows, rows.length);
      return rows;
    },
  };
  const stated = { month: "2026-03", currency: "USD", chargesMicros: 9_914_500n, refundsMicros: 1500n };
  const of = { number, advertiserId: "adv_shop", ...stated };
  const prove = async (window: number) => {
    const proved = await proveStatement(counted, { log: await currentLog(), of, window });
    if (proved.outcome !== "proved") throw new Error(proved.outcome);
    let text = "";
    for await (const part of proved.file) text += part;
    return text;
  };
  const inWindows = await prove(64);
  expect(mostRows).toBe(64);
  expect(inWindows).toBe(await prove(1000));
  expect(await verify("statement", await fileOf(inWindows))).toMatchObject({ isRight: true });
});

async function checkProofsOf(run: (words: string[]) => Promise<{ code: number | null; out: string; err: string }>) {
  const [{ eventId } = { eventId: "" }] = await store.database.run<{ eventId: string }>(
    { name: "", text: `select event_id as "eventId" from billing_log_entries where kind = 'refund'` },
    [],
  );
  const event = await run(["billing-log", "proof", eventId, "--refund"]);
  expect(event).toMatchObject({ code: 0, err: "" });
  expect(await verify("event", await fileOf(event.out))).toMatchObject({ isRight: true });
  const statement = await run(["billing-log", "statement", "Shop", "1"]);
  expect(await verify("statement", await fileOf(statement.out))).toMatchObject({ isRight: true });
  const refused = await run(["billing-log", "statement", "Shop", "99"]);
  expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("there is no statement 99") });
}

test("the command line writes proofs as verify.mjs reads them", async () => {
  const cli = await openCliFixture();
  onTestFinished(() => cli.close());
  await checkProofsOf((words) => cli.ads(words, { ADS_URL: fixture.address, OPERATOR_TOKEN: operatorToken }));
});

test("the command line writes them without a server, too", { tags: "long" }, async () => {
  const cli = await openCliFixture();
  onTestFinished(() => cli.close());
  const env = { DATABASE_URL: store.databaseUrl, ENCRYPTION_KEY: encryptionKey.toString("base64") };
  await checkProofsOf((words) => cli.adsProcess(words, env));
});

test("a row that is left out of a statement with its hash in place is found in the log", async () => {
  const { logId, publishedSize, checkpoint } = await currentLog();
  const { hashesOfRanges } = await import("./read-log.ts");
  const { subtreesBetween } = await import("./merkle-tree.ts");
  const [first] = await run<{ entry: string }>("select entry from billing_log_entries where log_index = 0");
  const hashes = await hashesOfRanges(
    store.database,
    logId,
    subtreesBetween({ from: 1, to: publishedSize }, publishedSize),
  );
  const file = {
    format: "intermission/statement-proof@1",
    statement: { number: 1, month: "2026-03", currency: "USD", chargesMicros: "4000", refundsMicros: "0" },
    checkpoint,
    entries: [{ index: 0, ...first }],
    hashes: hashes.map((hash) => Buffer.from(hash).toString("base64")),
  };
  const path = await fileOf(JSON.stringify(file));
  expect(await verify("statement", path)).toMatchObject({ isRight: true });
  const found = await verify("statement", path, "--log", `${fixture.address}/log`);
  expect(found.says).toContain("The log has 603 entries of its campaigns in 2026-03 that are not on the statement");
});

test("files of the log with a changed price, a dropped row or a reordered entry are found", async () => {
  const bundle = "tile/entries/001";
  const changed = async (change: (entries: Buffer[]) => void) => {
    const to = await mirror();
    const { parseBundle } = await import("../../../../clients/billing-log/verify.mjs");
    const { bundleOf } = await import("./tiles.ts");
    const entries = parseBundle(await readFile(join(to, bundle)));
    change(entries);
    await writeFile(join(to, bundle), bundleOf(entries));
    return verify("log", to);
  };
  expect(await changed(() => {})).toMatchObject({ isRight: true });
  const price = await changed((entries) => {
    entries[4] = Buffer.from(String(entries[4]).replace('"1500"', '"1400"'));
  });
  expect(price.says).toContain("Entry 260 is not the one whose hash the log has.");
  const dropped = await changed((entries) => entries.splice(4, 1));
  expect(dropped.says).toContain("has 255 of 256 entries");
  const reordered = await changed((entries) => {
    [entries[4], entries[5]] = [entries[5] ?? Buffer.of(), entries[4] ?? Buffer.of()];
  });
  expect(reordered.says).toContain("Entry 260 is not");
  expect(reordered.says).toContain("Entry 261 is not");
});

test("a forked log is found: two trees of one size, and a tree that does not go on from an older one", async () => {
  const { origin, publishedSize, checkpoint } = await currentLog();
  const [{ sealed } = { sealed: Buffer.of() }] = await run<{ sealed: Buffer }>(
    "select private_key as sealed from billing_logs",
  );
  const key = noteKeyOf(origin, fixture.secretBox.open(sealed, origin));
  const forkOf = (size: number) => fileOf(signNote(checkpointText({ origin, size, root: Buffer.alloc(32, 7) }), key));
  const log = `${fixture.address}/log`;
  const newest = await fileOf(checkpoint ?? "");
  const same = await verify("compare", await forkOf(publishedSize), newest, "--log", log);
  expect(same.says).toContain(`The log is forked: it has signed two different trees of ${publishedSize} entries.`);
  const older = await verify("compare", await forkOf(300), newest, "--log", log);
  expect(older.says).toContain("does not begin with the tree of 300 entries");
  const since = await verify("log", log, "--since", await forkOf(300));
  expect(since.says).toContain("does not begin with the tree of 300 entries that was signed before");
  const { logId } = await currentLog();
  const root = await rootOf(store.database, logId, 300);
  const honest = await fileOf(signNote(checkpointText({ origin, size: 300, root }), key));
  expect(await verify("compare", honest, newest, "--log", log)).toMatchObject({ isRight: true });
});

test("a node that dies between appending and publishing leaves the older checkpoint, and the next one publishes once", async () => {
  const before = await currentLog();
  for (let count = 0; count < 400; count++) await bill();
  await untilSettled(store.database, () => appendEntries(store.database));
  const served = async () => (await fetch(`${fixture.address}/log/checkpoint`)).text();
  expect(await served()).toBe(before.checkpoint);
  const folderMedia = folderStorage(fixture.mediaFolder);
  // A full tile, its bundle, then the file of the checkpoint, which is served only once all are there.
  for (let kept = 0; kept < 3; kept++) {
    let left = kept;
    const dying: MediaStorage = {
      ...folderMedia,
      keep: (path, name) => (left-- > 0 ? folderMedia.keep(path, name) : Promise.reject(new Error("killed"))),
    };
    await expect(continueLog(depsOf(store.database, dying))).rejects.toThrow("killed");
    expect(await served()).toBe(before.checkpoint);
    expect(await verify("log", `${fixture.address}/log`)).toMatchObject({ isRight: true });
  }
  await continueToEnd();
  const [{ entries, events } = { entries: 0, events: 0 }] = await run<{ entries: number; events: number }>(
    `select (select count(*) from billing_log_entries) as entries,
       (select count(*) from events where price_micros > 0) + (select count(*) from refunds) as events`,
  );
  expect(entries).toBe(events);
  expect((await currentLog()).publishedSize).toBe(events);
  expect(await verify("log", `${fixture.address}/log`)).toMatchObject({ isRight: true });
});

test("eight rounds at once on two nodes, while events are billed, give each event one entry in one tree", async () => {
  const second = await openDatabase({
    databaseUrl: store.databaseUrl,
    dataDirectory: "",
    schema: "ad_service",
    migrations,
  });
  onTestFinished(() => second.close());
  for (let turn = 0; turn < 5; turn++) {
    const billing = Array.from({ length: 40 }, (_, place) => bill({}, place % 2 === 0 ? store.database : second));
    const rounds = Array.from({ length: 8 }, (_, place) =>
      continueLog(depsOf(place % 2 === 0 ? store.database : second)),
    );
    await Promise.all([...billing, ...rounds]);
  }
  await continueToEnd();
  const missing = await run(
    `select event_id from events where price_micros > 0
     except select event_id from billing_log_entries where kind <> 'refund'`,
  );
  expect(missing).toEqual([]);
  expect(await verify("log", `${fixture.address}/log`)).toMatchObject({ isRight: true });
});

test("a store that was restored from before its checkpoint begins another log, and does not fork the first", async () => {
  const first = await currentLog();
  await run("alter table billing_log_entries disable trigger billing_log_entries_stay");
  await run("delete from billing_log_entries");
  // The backup was made before the newest event.
  await run(
    "delete from events where event_id = (select event_id from events where price_micros > 0 order by xid desc limit 1)",
  );
  await run("delete from billing_log_tiles");
  await run("update billing_logs set xid = '0', size = 0, published_size = 0, checkpoint = null");
  await run("alter table billing_log_entries enable trigger billing_log_entries_stay");
  await continueToEnd();
  await continueToEnd();
  const next = await currentLog();
  expect(next).toMatchObject({ logId: 2, origin: "ads.test/log-2", publishedSize: first.publishedSize - 1 });
  expect(next.verifierKey).not.toBe(first.verifierKey);
  expect((await fetch(`${fixture.address}/log/checkpoint`)).status).toBe(404);
  expect(await verify("log", `${fixture.address}/log-2`)).toMatchObject({ isRight: true });
});
