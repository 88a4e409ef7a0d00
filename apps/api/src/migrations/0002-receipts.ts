/** Receipts that tell of repeats and of what was signed but is no event; what was refused unsigned, as counts; the reconciliation's place. */
export const migration = `
alter table receipts
  -- Deliveries after the first. Not indexed, so that counting one touches no index.
  add column duplicates integer not null default 0,
  add column last_duplicate_at timestamptz,
  -- Signed with a token of ours, but no event of this contract; then nothing else is known of it.
  add column invalid_reason text,
  alter column event drop not null,
  alter column user_id drop not null,
  add check (invalid_reason is not null or (event is not null and user_id is not null));
create index receipts_without_entry on receipts (bot_id, received_at)
  where unmatched_reason is not null or invalid_reason is not null;

-- What came without a good signature leaves no more than a count, by hour. Older ones are removed by the writer.
create table refused_webhooks (
  bot_id text not null,
  hour timestamptz not null,
  reason text not null,
  refused bigint not null check (refused > 0),
  last_at timestamptz not null,
  primary key (bot_id, hour, reason)
);

-- cursor: the place before the last page that held an event. settled_event_id: the last event of that page that was
-- settled. A list that no longer has it there is another list than the one the cursor came from.
alter table reconciliations add column settled_event_id text;
`;
