-- Tasks that start a bot of the advertiser, which reports it by postback.
-- No older version works on it: it would call Telegram about a task without a channel.
alter table campaigns add column task_start_bot text;

alter table tasks
  alter column chat_id drop not null,
  -- Of a task without a channel: the bot's username.
  add column start_bot text,
  add constraint tasks_target_check check ((chat_id is null) <> (start_bot is null)) not valid,
  drop constraint tasks_proof_check,
  add constraint tasks_proof_check check (proof in ('link', 'membership', 'postback')) not valid;
