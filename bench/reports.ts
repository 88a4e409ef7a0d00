/**
 * `node bench/reports.ts`: how long reports of 90 days over 20 bots × 25 campaigns take, each with its counts by reason. Sums are
 * filled by SQL: of every second hour for each bot and campaign, and of quarters only in the hour that zones with half-hour
 * offsets cut, in the order of time, as the roll-up adds them. Prints medians.
 *
 *   node bench/reports.ts [--rounds 9]
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { migrations } from "../apps/ad-service/src/migrations.ts";
import { type ReportQuestion, readReport } from "../apps/ad-service/src/statistics/read-report.ts";
import {
  audienceTables,
  reasonTables,
  type SumTable,
  sumTables,
} from "../apps/ad-service/src/statistics/sum-tables.ts";
import type { Dimension } from "../packages/operator-api/src/statistics.ts";
import { openDatabase } from "../packages/postgres/src/open-database.ts";
import { findPostgres } from "../scripts/find-postgres.ts";
import { processorMilliseconds } from "./processor-time.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "9" } } });
const rounds = Number(values.rounds);

const DAYS = 90;
const to = new Date("2026-04-01T00:00:00Z");
const from = new Date(to.getTime() - DAYS * 86_400_000);

/** One row for each span and beginning, with the bots and campaigns of the question. */
const places = `
  select span, starts_at, (7000000000 + bot)::text as bot_id, 'cmp_' || campaign as campaign_id
  from generate_series(1, 20) as bot, generate_series(1, 25) as campaign, (
    select 'day' as span, at as starts_at from generate_series($1::timestamptz, $2, '1 day') as at
    union all
    select 'hour', at from generate_series($1::timestamptz, $2, '2 hours') as at
    union all
    select 'six-hours', at from generate_series($1::timestamptz, $2, '6 hours') as at
    union all
    select 'quarter', at + n * interval '15 minutes' from generate_series($1::timestamptz + interval '20 hours', $2, '1 day') as at,
      generate_series(0, 3) as n
  ) as times`;
const counts = `fills, no_fills, starts, first_quartiles, midpoints, third_quartiles, completions, closes, rewards, clicks, taps,
  spend_micros, revenue_micros, view_revenue_micros`;
const numbers = "40, 7, 38, 36, 34, 32, 30, 30, 29, 9, 4, 90000, 63000, 50000";

const fills = [
  `insert into stats_sums (span, starts_at, bot_id, campaign_id, creative_id, ${counts})
   select span, starts_at, bot_id, campaign_id, 'cre_1', ${numbers} from (${places}) as places order by starts_at, bot_id`,
  `insert into stats_reasons (span, starts_at, bot_id, campaign_id, creative_id, measure, reason, count)
   select span, starts_at, bot_id, campaign_id, 'cre_1', 'closes', reason, 10
   from (${places}) as places, unnest(array['tap', 'page-hidden']) as reason
   order by starts_at, bot_id`,
  `insert into stats_audiences (span, starts_at, bot_id, campaign_id, country, platform, language, premium, ${counts})
   select span, starts_at, bot_id, campaign_id, country, platform, 'en', 'regular', ${numbers}
   from (${places}) as places, unnest(array['DE', 'IN', 'IR', 'US']) as country, unnest(array['android', 'ios']) as platform
   where span = 'day' order by starts_at, bot_id`,
  ...[sumTables, audienceTables, reasonTables].flatMap((tables) => [
    levelOf(tables.bot, tables["bot-and-campaign"]),
    levelOf(tables.campaign, tables["bot-and-campaign"]),
  ]),
];

/** The sums over all campaigns, or over all bots, from those of both. */
function levelOf({ table, key }: SumTable, detailed: SumTable): string {
  const counted = key.includes("reason") ? ["count"] : counts.split(",").map((column) => column.trim());
  return `insert into ${table} (${[...key, ...counted].join(", ")})
    select ${[...key, ...counted.map((column) => `sum(${column})`)].join(", ")} from ${detailed.table}
    where $1::timestamptz < $2::timestamptz group by ${key.join(", ")} order by starts_at`;
}

const reports: [name: string, question: Partial<ReportQuestion> & { by: Dimension[] }][] = [
  ["by campaign", { by: ["campaign"] }],
  ["by bot and campaign", { by: ["bot", "campaign"] }],
  ["by day", { by: ["day"] }],
  ["by day and campaign", { by: ["day", "campaign"] }],
  ["by country and platform", { by: ["country", "platform"] }],
  ["by bot and country", { by: ["bot", "country"] }],
  ["by day and country", { by: ["day", "country"] }],
  ["by campaign, days of Asia/Tehran", { by: ["campaign"], timeZone: "Asia/Tehran", ...inZone("+03:30") }],
  ["by day of Asia/Tehran", { by: ["day"], timeZone: "Asia/Tehran", ...inZone("+03:30") }],
  ["by day of Asia/Tehran and campaign", { by: ["day", "campaign"], timeZone: "Asia/Tehran", ...inZone("+03:30") }],
  [
    "by day of Asia/Tehran, one bot",
    { by: ["day"], timeZone: "Asia/Tehran", ...inZone("+03:30"), of: { botIds: ["7000000001"] } },
  ],
];

function inZone(offset: string) {
  return { from: new Date(`2026-01-01T00:00:00${offset}`), to: new Date(`2026-03-31T00:00:00${offset}`) };
}

const postgres = await findPostgres();
const database = await openDatabase({
  databaseUrl: postgres.url,
  dataDirectory: "",
  schema: "bench_reports",
  migrations,
  limits: { statementMs: 600_000, silentMs: 600_000 },
});
try {
  for (const text of fills) await database.run({ name: "", text }, [from, new Date(to.getTime() - 1)]);
  await database.run({ name: "", text: "vacuum analyze" }, []);
  console.log(`load ${loadavg()[0]?.toFixed(1)}, medians of ${rounds} rounds\n`);
  for (const [name, question] of reports) {
    const { wall, processor } = await medianOf(question);
    console.log(`${name.padEnd(36)}${String(wall).padStart(6)} ms, of PostgreSQL's processor ${processor} ms`);
  }
} finally {
  await database.run({ name: "", text: "drop schema bench_reports cascade" }, []);
  await database.close();
  await postgres.stop();
}

/** Beside the time that it takes, which the machine's other work adds to, what it costs PostgreSQL: of both statements. */
async function medianOf(question: Partial<ReportQuestion> & { by: Dimension[] }) {
  const times: { wall: number; processor: number }[] = [];
  for (let round = 0; round <= rounds; round++) {
    const [began, before] = [performance.now(), await processorOfBackends()];
    const report = await readReport(database, { of: {}, from, to, ...question });
    if (report.outcome !== "read") throw new Error(report.outcome);
    const wall = performance.now() - began;
    // The first round warms up.
    if (round > 0) times.push({ wall, processor: (await processorOfBackends()) - before });
  }
  const median = (of: (time: (typeof times)[number]) => number) =>
    Math.round(times.map(of).toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0);
  return { wall: median(({ wall }) => wall), processor: median(({ processor }) => processor) };
}

async function processorOfBackends(): Promise<number> {
  const text = "select pid from pg_stat_activity where datname = current_database() and usename is not null";
  const pids = await database.run<{ pid: number }>({ name: "", text }, []);
  return processorMilliseconds(pids.map(({ pid }) => pid));
}
