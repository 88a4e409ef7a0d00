export interface FilledTable {
  readonly table: string;
  /** What follows `insert into <table>`. */
  readonly rows: string;
}

export const DAY_MS = 24 * 60 * 60 * 1000;
/** The codes were issued in the order of time, evenly over this period. */
export const filledDays = 28;
/** Sums of statistics are of whole days, up to midnight. */
export const filledUntil = () => new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS);

const made = (codes: number, condition = "") =>
  `from (select n::bigint as n, bench_growth.time_of(n) as at from generate_series(1, ${codes}) as numbers (n) ${condition}) as made`;

/** The rows that this many codes of a bot leave in both servers, a table each; the largest tables first. */
export function perCode(bot: string, codes: number): FilledTable[] {
  const [all, viewed, clicked, earned] = [
    made(codes),
    made(codes, "where n % 4 = 0"),
    made(codes, "where n % 4 = 2"),
    made(codes, "where n % 2 = 0"),
  ];
  const kind = "case n % 4 when 0 then 'rewarded' else 'direct_link' end";
  const campaign = (format: string) =>
    `(select campaign_id from ad_service.campaigns where '${format}' = any (formats) limit 1)`;
  const creative = "(select creative_id from ad_service.creatives limit 1)";
  const eventId = "'evt_' || bench_growth.uuid_of(n)";
  // The latest code of each user.
  const latest = made(codes, `where n > ${codes - Math.floor(codes / 4)}`);
  const [code, user, view] = ["bench_growth.code_of(n)", "bench_growth.user_of(n)", "bench_growth.view_of(n)"];
  const body = `format('{"event":"%s","event_id":"%s","bot_id":"${bot}","user_tg_id":"%s","code":"%s","occurred_at":"%s"}',
    ${kind}, ${eventId}, ${user}, ${code}, to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;
  const milestones = "array['start', 'first-quartile', 'midpoint', 'third-quartile', 'complete', 'close']";
  return [
    {
      table: "ad_service.ad_milestones",
      rows: `(bot_id, campaign_id, creative_id, milestone, reason, occurred_at)
        select '${bot}', ${campaign("rewarded")}, ${creative}, milestone, case milestone when 'close' then 'tap' else '' end, at
        ${viewed}, unnest(${milestones}) as milestone`,
    },
    {
      table: "ad_service.events",
      rows: `(event_id, bot_id, event, user_id, code, reference, campaign_id, creative_id, price_micros, revenue_micros, occurred_at)
        select ${eventId}, '${bot}', ${kind}, ${user}, ${code}, null,
          case n % 4 when 0 then ${campaign("rewarded")} else ${campaign("direct_link")} end,
          case n % 4 when 0 then ${creative} end, 0, 0, at ${earned}`,
    },
    {
      table: "ad_service.event_bodies",
      rows: `(event_id, bot_id, body) select ${eventId}, '${bot}', ${body} ${earned}`,
    },
    {
      table: "api.ledger_entries",
      rows: `(bot_id, user_id, recorded_at, amount, balance_after, event, event_id, code, code_entry, raw_body, signature)
        select '${bot}', ${user}, at, 10, 10, ${kind}, ${eventId}, ${code}, 1, ${body}, sha256(n::text::bytea) ${earned}`,
    },
    {
      table: "ad_service.views",
      rows: `(bot_id, view_id, code, user_id, campaign_id, creative_id, duration_ms, opened_at, deadline, token_hash, version,
          state, accepted_ms, clock_ms, credited_until, covered, sequences, started_at, last_report_at, watched_at,
          close_requested_at, closed_at, close_reason)
        select '${bot}', ${view}, ${code}, ${user}, ${campaign("rewarded")}, ${creative}, 30000, at, at + interval '1 hour',
          sha256(n::text::bytea), 7, 'rewarded', 30000, 30000, at, '{0,30000}', '{0,7}', at, at, at, at, at, 'tap' ${viewed}`,
    },
    {
      table: "ad_service.codes",
      rows: `(bot_id, code, user_id, issued_at, expires_at)
        select '${bot}', ${code}, ${user}, at, at + interval '1 hour' ${all}`,
    },
    {
      table: "api.codes",
      rows: `(bot_id, code, user_id, issued_at, expires_at)
        select '${bot}', ${code}, ${user}, at, at + interval '1 hour' ${all}`,
    },
    {
      table: "ad_service.deliveries",
      rows: `(bot_id, event_id, state, attempts, due_at, fence, recorded_fence, created_at, finished_at)
        select '${bot}', ${eventId}, 'delivered', 1, at, 1, 1, at, at ${earned}`,
    },
    {
      table: "ad_service.delivery_attempts",
      rows: `(bot_id, event_id, attempt, started_at, url, address, status, tcp_ms, first_byte_ms, total_ms, response_text)
        select '${bot}', ${eventId}, 1, at, 'https://bot.example.com/webhooks/ads', '192.0.2.1', 200, 1, 20, 21, 'ok' ${earned}`,
    },
    {
      table: "ad_service.current_codes",
      rows: `(bot_id, user_id, code, issued_at, expires_at)
        select '${bot}', ${user}, ${code}, at, at + interval '1 hour' ${latest}`,
    },
    {
      table: "ad_service.viewers",
      rows: `(bot_id, user_id, day, earned_today, last_earned_at)
        select '${bot}', ${user}, at::date, 1, at ${latest}`,
    },
    {
      table: "ad_service.ad_requests",
      rows: `(bot_id, user_id, code, outcome, campaign_id, creative_id, occurred_at)
        select '${bot}', ${user}, ${code}, 'filled', ${campaign("rewarded")}, ${creative}, at ${viewed}`,
    },
    {
      table: "api.balances",
      rows: `(bot_id, user_id, balance)
        select '${bot}', ${user}, 10 ${latest}`,
    },
    {
      table: "api.daily_rewards",
      rows: `(bot_id, user_id, day, counted) select '${bot}', ${user}, at::date, 1 ${latest}`,
    },
    {
      table: "ad_service.address_days",
      // Rows of addresses are kept for two days.
      rows: `(day, address_hash, clicks, counted, tapped, devices, viewers)
        select at::date, sha256(n::text::bytea), array[at], 1, 0, array[n], array[n] ${clicked}
        where n > ${codes} * ${filledDays - 2} / ${filledDays}`,
    },
    {
      table: "ad_service.campaign_days",
      rows: `(campaign_id, day, views, clicks)
        select ${campaign("rewarded")}, day, ${codes} / ${4 * filledDays}, 0
        from generate_series(${sinceFirst()}, interval '1 day') as day`,
    },
    { table: "ad_service.stats_sums", rows: sumsOf(bot, campaign("rewarded"), creative, codes) },
  ];
}

function sinceFirst(): string {
  const until = filledUntil();
  return `timestamptz '${until.toISOString()}' - interval '${filledDays} days', timestamptz '${until.toISOString()}' - interval '1 s'`;
}

/** The same number of facts in each span. */
function sumsOf(bot: string, campaign: string, creative: string, codes: number): string {
  const spans = { quarter: 96, hour: 24, "six-hours": 4, day: 1 };
  const ofSpan = ([span, perDay]: [string, number]) => `
    select '${span}' as span, at, ${Math.floor(codes / 4 / filledDays / perDay)} as count
    from generate_series(${sinceFirst()}, interval '1 day' / ${perDay}) as at`;
  return `(span, starts_at, bot_id, campaign_id, creative_id, fills, starts, completions, closes, rewards)
    select span, at, '${bot}', ${campaign}, ${creative}, count, count, count, count, count
    from (${Object.entries(spans).map(ofSpan).join(" union all ")}) as spans`;
}
