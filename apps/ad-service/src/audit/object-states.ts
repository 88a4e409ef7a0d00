import type { ObjectKind } from "@intermission/operator-api/object-kinds";
import type { Statement, Transaction } from "@intermission/postgres/open-database";

/** One query for each kind, by the id $1: an object without its secrets, and without the ids of users, who may be erased. */
const states = {
  bot: `select to_jsonb(b) - '{created_at,updated_at,testers}'::text[] || jsonb_build_object(
      'testers', cardinality(testers),
      'latest_payment', (
        select jsonb_build_object('kind', kind, 'amount_micros', amount_micros, 'transaction', transaction_id)
        from money_entries where account = 'publisher:' || $1 and kind in ('top_up', 'correction', 'payout')
        order by entry_id desc limit 1),
      'source_order', (select jsonb_build_object('mode', mode, 'campaigns', campaign_ids)
        from source_orders where source_orders.bot_id = b.bot_id),
      'webhook_url', (select url from endpoints where endpoints.bot_id = b.bot_id),
      'tokens', (select jsonb_object_agg(token_id, state) from bot_tokens where bot_tokens.bot_id = b.bot_id)) as state
    from bots b where bot_id = $1`,
  endpoint: `select jsonb_build_object('url', url, 'state', state, 'disabled_reason', disabled_reason,
      'max_in_flight', max_in_flight) as state
    from endpoints where bot_id = $1`,
  notices: `select coalesce(jsonb_object_agg(channel, address), '{}') as state from notice_receivers where bot_id = $1`,
  party: "select details as state from money_parties where account = $1",
  "payout-run": `select jsonb_build_object('month', to_char(month, 'YYYY-MM'), 'reference', reference, 'currency', currency, 'payouts', (
      select jsonb_build_object('count', count(*), 'amount_micros', sum(amount_micros))
      from payout_run_payments where payout_run_payments.run_id = r.run_id)) as state
    from payout_runs r where run_id = $1`,
  "money-request": `select jsonb_build_object('state', state, 'requested', requested - 'payments', 'requested_by', requested_by_name,
      'seconded_by', seconded_by_name, 'reason', reason, 'name', coalesce(
        (select name from advertisers where advertiser_id = object_id), (select name from bots where bot_id = object_id))) as state
    from money_requests where request_id = $1`,
  campaign: `select to_jsonb(c) - '{created_at,updated_at}'::text[] || jsonb_build_object('creatives', (
      select jsonb_object_agg(creative_id, to_jsonb(attached) - '{campaign_id,creative_id}'::text[])
      from campaign_creatives attached where attached.campaign_id = c.campaign_id)) as state
    from campaigns c where campaign_id = $1`,
  creative: `select to_jsonb(c) - '{created_at,frames_by_second}'::text[] as state from creatives c where creative_id = $1`,
  buyer: `select to_jsonb(b) - '{created_at,sealed_key,user_key}'::text[] || jsonb_build_object('has_key', sealed_key is not null,
      'reported_until', (select max(day) from partner_days where partner_days.buyer_id = b.buyer_id),
      'reported_at', (select max(imported_at) from partner_days where partner_days.buyer_id = b.buyer_id),
      'name', (select name from advertisers where advertisers.advertiser_id = b.advertiser_id)) as state
    from buyers b where buyer_id = $1`,
  "bought-creative": `select jsonb_build_object('name', coalesce(title, crid, media_url), 'buyer_id', buyer_id, 'review', review,
      'review_reason', review_reason) as state
    from bought_creatives where bought_creative_id = $1`,
  advertiser: `select jsonb_build_object('name', name, 'state', state, 'billing', billing,
      'credit_limit_micros', credit_limit_micros, 'latest_payment', (
        select jsonb_build_object('kind', kind, 'amount_micros', amount_micros, 'transaction', transaction_id)
        from money_entries where account = 'advertiser:' || $1 and kind in ('top_up', 'correction', 'payout')
        order by entry_id desc limit 1),
      'postback_key', left(encode(sha256(postback_key_hash), 'hex'), 8)) as state
    from advertisers where advertiser_id = $1`,
  deployment: `select jsonb_build_object('currency', (select currency from deployment), 'ord_url', url, 'has_key', url is not null,
      'approval_above_micros', (select approval_above_micros from deployment)) as state
    from (select (select url from ord_account)) as account (url)
    where $1 <> '' and (url is not null or exists (select from deployment))`,
  view: `select jsonb_build_object('state', state, 'decided_at', decided_at, 'refunded_at', (
      select refunds.occurred_at from events join refunds using (event_id)
      where events.code = s.code and events.bot_id = s.bot_id and events.event = s.format)) as state
    from views s where view_id = $1 and code >= week_of_view($1) and code < week_of_view($1) || '~'`,
  click: `select jsonb_build_object(
      'outcome', (select outcome from withheld_clicks where click_id = $1),
      'event_id', (select event_id from events where event_id = 'evt_' || substr($1, 5)),
      'refunded_at', (select occurred_at from refunds where event_id = 'evt_' || substr($1, 5))) as state`,
  conversion: `select jsonb_build_object('reversed_at', reversed_at) as state from conversions
    where click_id = split_part($1, ' ', 1) and concat_ws(' ', click_id, event, conversion_id) = $1`,
  "task-bot": `select jsonb_build_object('name', username, 'token', left(encode(sha256(token), 'hex'), 8), 'updates_by', updates_by) as state
    from task_bots where task_bot_id = $1`,
  "task-channel": `select jsonb_build_object('name', title, 'username', username, 'task_bot_id', task_bot_id,
      'approves_requests', approves_requests, 'rights', rights) as state
    from task_channels where chat_id = $1`,
  delivery: `select jsonb_build_object('state', state, 'attempts', attempts, 'resume_state', resume_state) as state
    from deliveries where event_id = $1`,
  person: `select jsonb_build_object('email', email, 'requested_email', (select new_email from person_email_changes
        where person_email_changes.person_id = people.person_id and person_email_changes.state = 'requested'),
      'role', role, 'advertiser_id', advertiser_id, 'bot_ids', bot_ids,
      'is_disabled', is_disabled, 'has_password', password_hash is not null,
      'recovery_codes', (select count(*) from person_recovery_codes where person_recovery_codes.person_id = people.person_id),
       'is_invited', invitation_hash is not null,
      'passkeys', (select jsonb_agg(name order by created_at, passkey_id) from person_passkeys
        where person_passkeys.person_id = people.person_id),
      'linked_accounts', (select jsonb_agg(label order by created_at, identity_id) from person_identities
        where person_identities.person_id = people.person_id),
      'alerts', (select jsonb_build_object('language', language, 'telegram', telegram_chat_id, 'muted', muted)
        from alert_settings where alert_settings.person_id = people.person_id),
      'seen_by', (select jsonb_object_agg(email, impersonated_until) from person_sessions
        join people seeing on seeing.person_id = person_sessions.person_id where impersonated_id = people.person_id),
      'sessions', (select count(*) from person_sessions where person_sessions.person_id = people.person_id)) as state
    from people where person_id = $1`,
  "saved-report": `select jsonb_build_object('person_id', person_id, 'name', name, 'search', search, 'mails', (
      select concat_ws(' ', every, hour, time_zone, case when has_csv then 'csv' end, ended) from report_schedules
      where report_schedules.saved_report_id = saved_reports.saved_report_id)) as state
    from saved_reports where saved_report_id = $1`,
  sample: `select jsonb_build_object('state', state, 'starts_at', starts_at, 'ends_at', ends_at) as state
    from sample where $1 <> ''`,
} satisfies Record<ObjectKind, string>;

const statements = Object.fromEntries(
  Object.entries(states).map(([kind, text]) => [
    kind,
    { name: "", text: `select state::text from (${text}) as object` },
  ]),
) as Readonly<Record<string, Statement<{ state: string }> | undefined>>;

/** As JSON, whose numbers JavaScript would round. Null: there is none. */
export async function readState(
  tx: Pick<Transaction, "run">,
  { kind, id }: { kind: string; id: string },
): Promise<string | null> {
  // A missing kind is a bug: its changes would be recorded without their states.
  const statement = statements[kind];
  if (statement === undefined) throw new Error(`objects of the kind ${kind} have no recorded state`);
  return (await tx.run(statement, [id]))[0]?.state ?? null;
}
