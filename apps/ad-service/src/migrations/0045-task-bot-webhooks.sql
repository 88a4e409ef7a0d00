-- Task bots that Telegram calls, beside those whose updates are read by polling.
-- works-with: 0044-start-tasks
alter table task_bots
  add column updates_by text not null default 'polling',
  add constraint task_bots_updates_by_check check (updates_by in ('polling', 'webhook')) not valid,
  -- When Telegram last confirmed the webhook; null: it is to be set.
  add column webhook_set_at timestamptz,
  -- Why Telegram's last call or its confirmation failed.
  add column webhook_fault text;

-- Updates that came by webhook: Telegram sends them in any order, and again until they are answered.
create table task_updates (
  task_bot_id text not null references task_bots,
  update_id bigint not null,
  applied_at timestamptz not null default now(),
  primary key (task_bot_id, update_id)
);
create index task_updates_by_age on task_updates (applied_at);
