import { statement, type Transaction } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import type { PlannedDay } from "./planned-rows.ts";

const ofCode = { bot_id: "text", user_id: "text", code: "text" } as const;
const ofAd = { campaign_id: "text", creative_id: "text", audience: "text" } as const;

/** Rows that stand in a table as they are planned. */
function insertOf<const Columns extends Parameters<typeof rowParameters>[0]>(table: string, columns: Columns) {
  const { table: planned, values } = rowParameters(columns);
  const names = Object.keys(columns).join(", ");
  const text = `insert into ${table} (${names}) select ${names} from (${planned}) as planned`;
  return { insert: statement<never>(`sample.insert-${table.replaceAll("_", "-")}`, text), values };
}

const codeRows = rowParameters({ ...ofCode, issued_at: "timestamptz" });
const insertCodes = statement<never>(
  "sample.insert-codes",
  `with planned as (select *, issued_at + interval '1 hour' as expires_at from (${codeRows.table}) as planned),
  latest as (
    insert into current_codes as kept (bot_id, user_id, code, issued_at, expires_at)
    select distinct on (bot_id, user_id) bot_id, user_id, code, issued_at, expires_at from planned order by bot_id, user_id, issued_at desc
    on conflict (user_id, bot_id, reference) do update set
      code = excluded.code, issued_at = excluded.issued_at, expires_at = excluded.expires_at
  )
  insert into codes (bot_id, code, user_id, issued_at, expires_at)
  select bot_id, code, user_id, issued_at, expires_at from planned`,
);

const requests = insertOf("ad_requests", {
  ...ofCode,
  ...ofAd,
  outcome: "text",
  reason: "text",
  occurred_at: "timestamptz",
});

const viewRows = rowParameters({
  ...ofCode,
  ...ofAd,
  view_id: "text",
  duration_ms: "integer",
  opened_at: "timestamptz",
  started_at: "timestamptz",
  state: "text",
  accepted_ms: "integer",
  suspicions: "text[]",
  closed_at: "timestamptz",
});
// Nobody has a token that fits the random hash, so that no report reaches these views.
const insertViews = statement<never>(
  "sample.insert-views",
  `insert into views (bot_id, view_id, code, user_id, campaign_id, creative_id, audience, duration_ms, opened_at, deadline,
     token_hash, state, accepted_ms, clock_ms, covered, started_at, last_report_at, watched_at, suspicions,
     close_requested_at, closed_at, close_reason)
   select bot_id, view_id, code, user_id, campaign_id, creative_id, audience, duration_ms, opened_at,
     opened_at + interval '65 minutes', sha256(gen_random_uuid()::text::bytea), state, accepted_ms, accepted_ms,
     case when accepted_ms > 0 then array[0, accepted_ms] else '{}' end, started_at,
     started_at + accepted_ms * interval '1 millisecond',
     case when closed_at is not null then started_at + duration_ms * interval '1 millisecond' end,
     suspicions, closed_at, closed_at, case when closed_at is not null then 'tap' end
   from (${viewRows.table}) as planned`,
);

const milestones = insertOf("ad_milestones", {
  bot_id: "text",
  ...ofAd,
  milestone: "text",
  reason: "text",
  occurred_at: "timestamptz",
});

const ctaClicks = insertOf("cta_clicks", {
  bot_id: "text",
  ...ofAd,
  view_id: "text",
  click_id: "text",
  user_id: "text",
  occurred_at: "timestamptz",
  opened_at: "timestamptz",
});

const eventRows = rowParameters({
  ...ofCode,
  ...ofAd,
  event_id: "text",
  event: "text",
  price_micros: "bigint",
  revenue_micros: "bigint",
  body: "text",
  occurred_at: "timestamptz",
  failures: "integer",
});
// Their webhooks count as delivered, and nothing is sent. An event and what its campaign owes are one statement, as everywhere.
const insertEvents = statement<never>(
  "sample.insert-events",
  `with planned as (${eventRows.table}),
  days as (
    insert into campaign_days (campaign_id, day, views, clicks, spent_micros)
    select campaign_id, (occurred_at at time zone 'utc')::date, count(*) filter (where event = 'rewarded'),
      count(*) filter (where event = 'direct_link'), sum(price_micros)
    from planned group by 1, 2 order by 1, 2
    on conflict (campaign_id, day) do update set
      views = campaign_days.views + excluded.views, clicks = campaign_days.clicks + excluded.clicks,
      spent_micros = campaign_days.spent_micros + excluded.spent_micros
  ),
  earners as (
    insert into viewers (bot_id, user_id, day, earned_today, last_earned_at)
    select bot_id, user_id, max((occurred_at at time zone 'utc')::date), count(*), max(occurred_at) from planned group by 1, 2
    on conflict (user_id, bot_id) do update set
      day = excluded.day, earned_today = excluded.earned_today, last_earned_at = excluded.last_earned_at
  ),
  said as (insert into event_bodies (bot_id, event_id, body) select bot_id, event_id, body from planned),
  delivered as (
    insert into deliveries (bot_id, event_id, state, attempts, created_at, due_at, finished_at)
    select bot_id, event_id, 'delivered', failures + 1, occurred_at, occurred_at,
      occurred_at + failures * interval '5 seconds' + interval '180 milliseconds'
    from planned
  ),
  attempted as (
    insert into delivery_attempts (bot_id, event_id, attempt, started_at, url, status, total_ms)
    select bot_id, event_id, attempt, occurred_at + (attempt - 1) * interval '5 seconds',
      'https://bot.example/webhooks/ads', case when attempt <= failures then 503 else 200 end,
      (120 + extract(second from occurred_at))::integer
    from planned cross join lateral generate_series(1, failures + 1) as attempt
  )
  insert into events (bot_id, event_id, event, user_id, code, campaign_id, creative_id, price_micros, revenue_micros,
    audience, occurred_at)
  select bot_id, event_id, event, user_id, code, campaign_id, creative_id, price_micros, revenue_micros, audience,
    occurred_at from planned`,
);

const withheldRows = rowParameters({
  ...ofCode,
  click_id: "text",
  campaign_id: "text",
  outcome: "text",
  suspicions: "text[]",
  audience: "text",
  occurred_at: "timestamptz",
});
const insertWithheld = statement<never>(
  "sample.insert-withheld-clicks",
  `with planned as (${withheldRows.table}),
  counted as (
    insert into click_refusals (bot_id, code, reason, quarter, count)
    select bot_id, code, outcome, date_bin('15 minutes', occurred_at, 'epoch'), count(*) from planned group by 1, 2, 3, 4
  )
  insert into withheld_clicks (bot_id, click_id, code, user_id, campaign_id, outcome, user_agent, audience, suspicions,
    occurred_at)
  select bot_id, click_id, code, user_id, campaign_id, outcome,
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36',
    audience, suspicions, occurred_at
  from planned`,
);

const conversions = insertOf("conversions", {
  bot_id: "text",
  ...ofAd,
  click_id: "text",
  event: "text",
  value_micros: "bigint",
  currency: "text",
  occurred_at: "timestamptz",
  clicked_at: "timestamptz",
});

/** Writes a day of traffic into the tables of real traffic, in statements of at most some thousand rows. */
export async function writeDay(tx: Transaction, day: PlannedDay): Promise<void> {
  await tx.run(insertCodes, codeRows.values(day.codes));
  await tx.run(requests.insert, requests.values(day.requests));
  await tx.run(insertViews, viewRows.values(day.views));
  await tx.run(milestones.insert, milestones.values(day.milestones));
  await tx.run(ctaClicks.insert, ctaClicks.values(day.ctaClicks));
  await tx.run(insertEvents, eventRows.values(day.events));
  await tx.run(insertWithheld, withheldRows.values(day.withheld));
  await tx.run(conversions.insert, conversions.values(day.conversions));
}
