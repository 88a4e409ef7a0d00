-- Interstitials: a view without a reward, which may be skipped, and costs once it was in view for a while.
-- No older version works on it: it would continue an interstitial as a rewarded view, and close it as one, paid and with a webhook.

alter table campaigns
  drop constraint campaigns_formats_check,
  add constraint campaigns_formats_check check (
    formats <@ array['rewarded', 'direct_link', 'interstitial', 'task'] and cardinality(formats) between 1 and 4
  ),
  add column skip_after_seconds integer not null default 5 check (skip_after_seconds between 0 and 15),
  -- Null: the same.
  add column charged_after_seconds integer check (charged_after_seconds between 1 and 30);

alter table bots
  add column interstitial_seconds integer not null default 60 check (interstitial_seconds between 0 and 86400),
  -- The bot asks for the webhook.
  add column sends_interstitials boolean not null default false;

-- What was agreed stays as it was when the view began; null for a rewarded view.
alter table views
  add column format text not null default 'rewarded',
  add column skip_after_ms integer,
  add column charged_after_ms integer,
  add constraint views_format_check check (format in ('rewarded', 'interstitial')) not valid;

-- When the latest interstitial began.
alter table viewers
  add column last_interstitial_at timestamptz;

-- A view's limits are those of its format: an interstitial that plays is no reward that may still come.
create or replace function unfinished_views(bot_id text, user_id text, code text, moment timestamptz, first_code text, last_code text)
returns table (count integer, last_active_at timestamptz, first_deadline timestamptz) language sql stable
begin atomic
  select count(*)::integer, max(coalesce(last_report_at, started_at)), min(deadline)
  from (
    select * from views
    where views.bot_id = unfinished_views.bot_id and views.user_id = unfinished_views.user_id
      and opened_at > moment - interval '25 hours' and views.code between first_code and last_code
    order by opened_at desc offset 0
  ) as of_user
  where of_user.code <> unfinished_views.code and deadline > moment and state in ('playing', 'watched')
    and format = 'rewarded'
    -- Clocks may differ by a minute: a view that is dated further ahead is a wrong clock's.
    and opened_at <= moment + interval '1 minute';
end;

alter table events drop constraint events_event_check,
  add constraint events_event_check
    check (event in ('rewarded', 'direct_link', 'interstitial', 'task', 'task_reversed')) not valid;
alter table refunds drop constraint refunds_event_check,
  add constraint refunds_event_check check (event in ('rewarded', 'direct_link', 'interstitial', 'task')) not valid;
alter table billing_log_entries drop constraint billing_log_entries_kind_check,
  add constraint billing_log_entries_kind_check
    check (kind in ('view', 'click', 'interstitial', 'task', 'refund')) not valid;
