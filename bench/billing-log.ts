/**
 * `node bench/billing-log.ts`: how long the log of billed events takes for a million entries, on a temporary PostgreSQL: to
 * append and publish them, to prove one event and the events of an advertiser, and for `verify.mjs` to check these.
 *
 *   node bench/billing-log.ts [--entries 1000000] [--proofs 1000]
 */
import { execFileSync } from "node:child_process";
import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { secretBox } from "@intermission/server/secret-box";
import { continueLog } from "../apps/ad-service/src/billing-log/publish-log.ts";
import { readCurrentLog } from "../apps/ad-service/src/billing-log/read-log.ts";
import { type PlacedEntry, proofFile, proveEvent } from "../apps/ad-service/src/billing-log/statement-proof.ts";
import { folderStorage } from "../apps/ad-service/src/creatives/media-storage.ts";
import { migrations } from "../apps/ad-service/src/migrations.ts";
import { type Database, openDatabase } from "../packages/postgres/src/open-database.ts";
import { createServerDatabase } from "../packages/testing/src/test-database.ts";
import { findPostgres } from "../scripts/find-postgres.ts";
import { root } from "../scripts/processes.ts";
import { medianOf } from "./load.ts";
import { processorMilliseconds } from "./processor-time.ts";

const { values } = parseArgs({
  options: { entries: { type: "string", default: "1000000" }, proofs: { type: "string", default: "1000" } },
});
const [entries, proofs] = [Number(values.entries), Number(values.proofs)];

/** A tenth of the events are of one campaign. */
const billed = `insert into events (event_id, code, bot_id, user_id, campaign_id, creative_id, event, price_micros, revenue_micros,
    occurred_at)
  select 'evt_' || n, n, '910', '1', case n % 10 when 0 then 'cmp_shop' else 'cmp_other' end, 'cre_a', 'direct_link', 1500, 1000,
    '2026-03-01'::timestamptz + n * interval '1 second' from generate_series($1::integer, $2::integer) as n`;
const STEP = 50_000;
const WINDOW = 16_384;

async function fill(run: (text: string, ...values: unknown[]) => Promise<unknown>): Promise<void> {
  await run("insert into deployment (currency) values ('USD')");
  await run("insert into bots (bot_id, code_prefix, name) values ('910', '0910', 'Quiz')");
  for (let first = 1; first <= entries; first += STEP) await run(billed, first, Math.min(entries, first + STEP - 1));
  await run("analyze");
}

const print = (what: string, figure: string) => console.log(`${what.padEnd(56)} ${figure}`);
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

async function appendAll(database: Database, folder: string): Promise<void> {
  const log = { error() {}, warn() {}, info() {} };
  const deps = { database, secretBox: secretBox(Buffer.alloc(32, 1)), media: folderStorage(folder), log };
  const [begun, processor] = [performance.now(), processorMilliseconds([process.pid])];
  while ((await continueLog({ ...deps, publicUrl: "https://rewards.example.com" })).hasMore);
  const took = performance.now() - begun;
  print(`${entries} entries appended, published after each 10,000`, seconds(took));
  print("  entries a second", String(Math.round((entries / took) * 1000)));
  print("  processor time of Node", seconds(processorMilliseconds([process.pid]) - processor));
}

async function prove(database: Database, folder: string): Promise<void> {
  const log = await readCurrentLog(database);
  if (log?.checkpoint == null) throw new Error("nothing was published");
  const times: number[] = [];
  for (let n = 1; n <= proofs; n++) {
    const begun = performance.now();
    await proveEvent(database, { eventId: `evt_${1 + Math.floor((n * entries) / (proofs + 1))}`, kinds: ["click"] });
    times.push(performance.now() - begun);
  }
  print("the proof of one event, median", `${medianOf(times).toFixed(1)} ms`);

  const begun = performance.now();
  const text = `select log_id as "logId", log_index as index, entry from billing_log_entries
    where campaign_id = 'cmp_shop' and log_index >= $1 and log_index < $2 order by log_index`;
  const { logId, publishedSize: size, checkpoint } = log;
  const windows = Math.ceil(size / WINDOW);
  const placed = async function* () {
    for (let window = 0; window < windows; window++)
      yield await database.run<PlacedEntry>({ name: "", text }, [window * WINDOW, (window + 1) * WINDOW]);
  };
  const count = Math.floor(size / 10);
  const sums = { chargesMicros: String(1500 * count), refundsMicros: "0" };
  const stated = { number: 1, month: "2099-12", currency: "USD", ...sums };
  const path = join(folder, "proof.json");
  await pipeline(proofFile(database, { stated, checkpoint, size, logId, entries: placed }), createWriteStream(path));
  print(`the proof of ${count} events of them`, seconds(performance.now() - begun));
  print("  its size", `${(statSync(path).size / 1e6).toFixed(1)} MB`);
  const started = performance.now();
  const verifier = join(root, "clients/billing-log/verify.mjs");
  execFileSync(process.execPath, [verifier, "statement", path, "--key", log.verifierKey]);
  print("  verify.mjs checks it in", seconds(performance.now() - started));
}

const postgres = await findPostgres({ fsync: true });
const server = await createServerDatabase(postgres.url);
const folder = mkdtempSync(join(tmpdir(), "intermission-log-"));
const options = { databaseUrl: server.url, dataDirectory: "", schema: "ad_service", migrations, poolSize: 4 };
const database = await openDatabase({ ...options, limits: { statementMs: 600_000, silentMs: 120_000 } });
try {
  console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
  await fill((text, ...bound) => database.run({ name: "", text }, bound));
  await appendAll(database, folder);
  await prove(database, folder);
  const text = `select pg_size_pretty(sum(pg_total_relation_size(oid))) as size from pg_class
    where relname in ('billing_log_entries', 'billing_log_tiles')`;
  const [{ size } = { size: "" }] = await database.run<{ size: string }>({ name: "", text }, []);
  print("in the database, with indexes", size);
} finally {
  await database.close();
  await server.drop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
