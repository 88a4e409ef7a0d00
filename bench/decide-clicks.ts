/**
 * Processor time of first clicks without HTTP: batches of visits are judged in one process, by this working tree and by a
 * baseline in turns. Prints the medians of the rounds, PostgreSQL's and Node's microseconds for a click.
 *
 *   node bench/decide-clicks.ts [--baseline <revision>] [--rounds 7] [--clicks 900]
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { newClickId } from "../packages/ad-core/src/code.ts";
import { type Database, openDatabase, statement } from "../packages/postgres/src/open-database.ts";
import { createServerDatabase } from "../packages/testing/src/test-database.ts";
import { findPostgres } from "../scripts/find-postgres.ts";
import { unpackBaseline } from "./bench-stack.ts";
import { medianOf } from "./load.ts";
import { openPostgresFigures } from "./postgres-figures.ts";

const { values } = parseArgs({
  options: {
    baseline: { type: "string" },
    rounds: { type: "string", default: "7" },
    clicks: { type: "string", default: "900" },
  },
});
const [rounds, clicksOfRound] = [Number(values.rounds), Number(values.clicks)];
const batchSizes = [1, 8, 32, 64];

type JudgeClicks = (
  database: Database,
  clicks: unknown[],
  options: { slots: number },
) => Promise<{ result: unknown[] }>;

interface Subject {
  readonly name: string;
  readonly database: Database;
  readonly judgeClicks: JudgeClicks;
  readonly codes: string[];
  drop(): Promise<void>;
}

const server = await findPostgres();
const figures = await openPostgresFigures(server.url);
figures.keepOnCore();
await figures.warmUp();

const baseline = values.baseline === undefined ? undefined : await unpackBaseline(values.baseline);
const subjects = [await openSubject("working tree", join(import.meta.dirname, ".."))];
if (baseline) subjects.unshift(await openSubject(baseline.name, baseline.root));

for (const size of batchSizes) {
  const measured = new Map(subjects.map((subject) => [subject, { database: [] as number[], node: [] as number[] }]));
  for (let round = 0; round <= rounds; round++) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const cost = await measure(subject, size);
      // The first round warms up.
      if (round > 0) measured.get(subject)?.database.push(cost.database);
      if (round > 0) measured.get(subject)?.node.push(cost.node);
    }
  }
  for (const [subject, { database, node }] of measured) {
    const [ofDatabase, ofNode] = [medianOf(database), medianOf(node)].map((median) => median.toFixed(0));
    console.log(`batches of ${size}, ${subject.name}: PostgreSQL ${ofDatabase} µs + Node ${ofNode} µs for a click`);
  }
}
for (const subject of subjects) await subject.drop();
baseline?.remove();
await figures.close();
await server.stop();
process.exit(0);

async function openSubject(name: string, root: string): Promise<Subject> {
  const load = (path: string) => import(pathToFileURL(join(root, "apps/ad-service/src", path)).href);
  const { migrations } = await load("migrations.ts");
  const { judgeClicks } = await load("clicks/judge-clicks.ts");
  const created = await createServerDatabase(server.url);
  const databaseUrl = await figures.socketUrlOf(created.url);
  const options = { databaseUrl, dataDirectory: "data-bench", schema: "ad_service", migrations };
  const database = await openDatabase(options);
  const run = <Row>(text: string) => database.run<Row>({ name: "", text }, []);
  await run(`insert into bots (bot_id, code_prefix, name, cooldown_seconds, daily_cap)
    values ('7000000001', 'abcd', 'Bot', 0, 1000)`);
  await run("insert into advertisers (advertiser_id, name, name_key) values ('adv_shop', 'Shop', 'shop')");
  await run(`insert into campaigns (campaign_id, name, advertiser_id, formats, click_price_micros, landing_url)
    values ('cmp_1', 'Link', 'adv_shop', '{direct_link}', 1000, 'https://shop.example')`);
  await run("insert into endpoints (bot_id, url, state) values ('7000000001', 'https://bot.example', 'disabled')");
  const count = batchSizes.length * (rounds + 1) * (clicksOfRound + Math.max(...batchSizes));
  const issue = statement<{ code: string }>(
    "bench.issue-codes",
    `insert into codes (bot_id, code, user_id, issued_at, expires_at)
     select '7000000001', 'abcd' || substr(translate(md5(g::text), '01', 'gh'), 1, 12), (100000000 + g)::text,
       now() - interval '10 s', now() + interval '1 hour'
     from generate_series(1, $1::integer) as g returning code`,
  );
  const codes = (await database.run(issue, [count])).map(({ code }) => code);
  await run("analyze");
  const drop = async () => {
    await database.close();
    await created.drop();
  };
  return { name, database, judgeClicks, codes, drop };
}

async function measure({ name, database, judgeClicks, codes }: Subject, size: number) {
  const batches = Math.max(4, Math.round(clicksOfRound / size));
  const [processor, ofDatabase] = [process.cpuUsage(), await figures.processorMilliseconds()];
  for (let batch = 0; batch < batches; batch++) {
    const clicks = codes.splice(0, size).map(clickOf);
    const { result } = await judgeClicks(database, clicks, { slots: 0 });
    const counted = JSON.stringify(result).split('"outcome":"counted"').length - 1;
    if (counted !== size) throw new Error(`${name} counted ${counted} of ${size} clicks`);
  }
  const { user, system } = process.cpuUsage(processor);
  const clicks = batches * size;
  return {
    node: (user + system) / clicks,
    database: (((await figures.processorMilliseconds()) - ofDatabase) * 1000) / clicks,
  };
}

function clickOf(code: string) {
  const now = new Date();
  const hash = randomBytes(16).toString("hex");
  const visit = {
    code,
    now,
    clickId: newClickId(now.getTime(), randomBytes(10)),
    visitor: { kind: "person" },
    tap: undefined,
    userAgent: "Mozilla/5.0 (Linux; Android 15; Pixel 9) Chrome/140 Mobile",
    acceptLanguage: "en",
    hashes: { today: hash, yesterday: hash, network: hash },
    request: { bot: { botId: "7000000001" } },
  };
  const network = { isStored: false, pending: { users: 0, minute: null, minuteUsers: 0 } };
  return { visit, network, campaignId: "cmp_1", isNearLimit: false, isNetworkCrowded: false, usualClicks: 0 };
}
