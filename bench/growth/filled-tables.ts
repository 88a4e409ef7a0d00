import type { FilledPeriod, NumberRange } from "./filled-period.ts";

export interface FilledTable {
  readonly table: string;
  /** What follows `insert into <table>`: the rows of these codes. */
  readonly rows: (numbers: NumberRange) => string;
}

/** Which codes leave rows: every `every`-th, from the one numbered `rest` on. */
interface Share {
  readonly every: number;
  readonly rest: number;
}
const all: Share = { every: 1, rest: 0 };
const viewed: Share = { every: 4, rest: 0 };
const clicked: Share = { every: 4, rest: 2 };
const earned: Share = { every: 2, rest: 0 };

function made({ every, rest }: Share, { first, last }: NumberRange): string {
  const start = first + ((((rest - first) % every) + every) % every);
  return `from (select n, bench_growth.time_of(n) as at
    from generate_series(${start}::bigint, ${last}::bigint, ${every}::bigint) as numbers (n)) as made`;
}

const [code, user, view] = ["bench_growth.code_of(n)", "bench_growth.user_of(n)", "bench_growth.view_of(n)"];
const eventId = "'evt_' || bench_growth.uuid_of(n)";
const kind = "case n % 4 when 0 then 'rewarded' else 'direct_link' end";
const milestones = "array['start', 'first-quartile', 'midpoint', 'third-quartile', 'complete', 'close']";
const creative = "(select creative_id from ad_service.creatives limit 1)";
const campaign = (format: string) =>
  `(select campaign_id from ad_service.campaigns where '${format}' = any (formats) limit 1)`;
const webhook = (bot: string) =>
  `format('{"event":"%s","event_id":"%s","bot_id":"${bot}","user_tg_id":"%s","code":"%s","occurred_at":"%s"}',
    ${kind}, ${eventId}, ${user}, ${code}, to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;

/** The rows that the codes of a bot leave in both servers, a table each; the largest tables first. */
export function perCode({ botId: bot, period }: { botId: string; period: FilledPeriod }): FilledTable[] {
  return [...ofEvents(bot), ...ofViews(bot), ...ofCodes(bot), ...ofUsers(bot, period), ...ofDays(bot, period)];
}

function ofEvents(bot: string): FilledTable[] {
  return [
    {
      table: "ad_service.events",
      rows: (numbers) => `(event_id, bot_id, event, user_id, code, reference, campaign_id, creative_id, price_micros,
          revenue_micros, occurred_at)
        select ${eventId}, '${bot}', ${kind}, ${user}, ${code}, null,
          case n % 4 when 0 then ${campaign("rewarded")} else ${campaign("direct_link")} end,
          case n % 4 when 0 then ${creative} end, 0, 0, at ${made(earned, numbers)}`,
    },
    {
      table: "ad_service.event_bodies",
      rows: (numbers) =>
        `(event_id, bot_id, body) select ${eventId}, '${bot}', ${webhook(bot)} ${made(earned, numbers)}`,
    },
    {
      table: "api.ledger_entries",
      rows: (
        numbers,
      ) => `(bot_id, user_id, recorded_at, amount, balance_after, event, event_id, code, code_entry, raw_body,
          signature)
        select '${bot}', ${user}, at, 10, 10, ${kind}, ${eventId}, ${code}, 1, ${webhook(bot)}, sha256(n::text::bytea)
        ${made(earned, numbers)}`,
    },
    {
      table: "ad_service.deliveries",
      rows: (numbers) => `(bot_id, event_id, state, attempts, due_at, fence, recorded_fence, created_at, finished_at)
        select '${bot}', ${eventId}, 'delivered', 1, at, 1, 1, at, at ${made(earned, numbers)}`,
    },
    {
      table: "ad_service.delivery_attempts",
      rows: (numbers) => `(bot_id, event_id, attempt, started_at, url, address, status, tcp_ms, first_byte_ms, total_ms,
          response_text)
        select '${bot}', ${eventId}, 1, at, 'https://bot.example.com/webhooks/ads', '192.0.2.1', 200, 1, 20, 21, 'ok'
        ${made(earned, numbers)}`,
    },
  ];
}

function ofViews(bot: string): FilledTable[] {
  return [
    {
      table: "ad_service.ad_milestones",
      rows: (numbers) => `(bot_id, campaign_id, creative_id, milestone, reason, occurred_at)
        select '${bot}', ${campaign("rewarded")}, ${creative}, milestone, case milestone when 'close' then 'tap' else '' end, at
        ${made(viewed, numbers)}, unnest(${milestones}) as milestone`,
    },
    {
      table: "ad_service.views",
      rows: (numbers) => `(bot_id, view_id, code, user_id, campaign_id, creative_id, duration_ms, opened_at, deadline,
          token_hash, version, state, accepted_ms, clock_ms, credited_until, covered, sequences, started_at, last_report_at,
          watched_at, close_requested_at, closed_at, close_reason)
        select '${bot}', ${view}, ${code}, ${user}, ${campaign("rewarded")}, ${creative}, 30000, at, at + interval '1 hour',
          sha256(n::text::bytea), 7, 'rewarded', 30000, 30000, at, '{0,30000}', '{0,7}', at, at, at, at, at, 'tap'
        ${made(viewed, numbers)}`,
    },
    {
      table: "ad_service.ad_requests",
      rows: (numbers) => `(bot_id, user_id, code, outcome, campaign_id, creative_id, occurred_at)
        select '${bot}', ${user}, ${code}, 'filled', ${campaign("rewarded")}, ${creative}, at ${made(viewed, numbers)}`,
    },
  ];
}

function ofCodes(bot: string): FilledTable[] {
  return ["api.codes", "ad_service.codes"].map((table) => ({
    table,
    rows: (numbers) => `(bot_id, code, user_id, issued_at, expires_at)
      select '${bot}', ${code}, ${user}, at, at + interval '1 hour' ${made(all, numbers)}`,
  }));
}

/** Rows of the latest code of each user. */
function ofUsers(bot: string, { codes }: FilledPeriod): FilledTable[] {
  const latest = made(all, { first: codes - Math.floor(codes / 4) + 1, last: codes });
  return [
    {
      table: "ad_service.current_codes",
      rows: () => `(bot_id, user_id, code, issued_at, expires_at)
        select '${bot}', ${user}, ${code}, at, at + interval '1 hour' ${latest}`,
    },
    {
      table: "ad_service.viewers",
      rows: () => `(bot_id, user_id, day, earned_today, last_earned_at)
        select '${bot}', ${user}, at::date, 1, at ${latest}`,
    },
    { table: "api.balances", rows: () => `(bot_id, user_id, balance) select '${bot}', ${user}, 10 ${latest}` },
    {
      table: "api.daily_rewards",
      rows: () => `(bot_id, user_id, day, counted) select '${bot}', ${user}, at::date, 1 ${latest}`,
    },
  ];
}

/** Sums, and what is kept for two days. */
function ofDays(bot: string, period: FilledPeriod): FilledTable[] {
  const { codes, days } = period;
  const ofTwoDays = made(clicked, { first: Math.ceil((codes * Math.max(0, days - 2)) / days) + 1, last: codes });
  const sums = (table: string, key: readonly string[], values: readonly string[]) => ({
    table: `ad_service.${table}`,
    rows: () => `(span, starts_at, ${key.join(", ")}, fills, starts, completions, closes, rewards, clicks)
      select span, at, ${values.join(", ")}, count, count, count, count, count, count from (${spansOf(period)}) as spans`,
  });
  const [ofBot, ofCampaign] = [`'${bot}'`, [campaign("rewarded"), creative]];
  return [
    {
      table: "ad_service.address_days",
      rows: () => `(day, address_hash, clicks, counted, tapped, devices, viewers)
        select at::date, sha256(n::text::bytea), array[at], 1, 0, array[n], array[n] ${ofTwoDays}`,
    },
    {
      table: "ad_service.campaign_days",
      rows: () => `(campaign_id, day, views, clicks)
        select ${campaign("rewarded")}, day, ${Math.floor(codes / (4 * days))}, 0
        from generate_series(${momentsOf(period)}, interval '1 day') as day`,
    },
    sums("stats_sums", ["bot_id", "campaign_id", "creative_id"], [ofBot, ...ofCampaign]),
    sums("stats_bot_sums", ["bot_id"], [ofBot]),
    sums("stats_campaign_sums", ["campaign_id", "creative_id"], ofCampaign),
    sums("stats_audiences", ["bot_id", "campaign_id"], [ofBot, campaign("rewarded")]),
    sums("stats_bot_audiences", ["bot_id"], [ofBot]),
    sums("stats_campaign_audiences", ["campaign_id"], [campaign("rewarded")]),
  ];
}

function momentsOf({ from, until }: FilledPeriod): string {
  return `timestamptz '${from.toISOString()}', timestamptz '${until.toISOString()}' - interval '1 s'`;
}

/** The same number of facts in each span. */
function spansOf(period: FilledPeriod): string {
  const spans = { quarter: 96, hour: 24, "six-hours": 4, day: 1 };
  const ofSpan = ([span, perDay]: [string, number]) => `
    select '${span}' as span, at, ${Math.floor(period.codes / 4 / period.days / perDay)} as count
    from generate_series(${momentsOf(period)}, interval '1 day' / ${perDay}) as at`;
  return Object.entries(spans).map(ofSpan).join(" union all ");
}
