-- Saved reports by mail.
-- works-with: 0037-add-measure

-- When the report is mailed to the person who has saved it.
create table report_schedules (
  saved_report_id text primary key references saved_reports on delete cascade,
  every text not null check (every in ('day', 'week', 'month')),
  hour integer not null check (hour between 0 and 23),
  time_zone text not null,
  has_csv boolean not null,
  -- Null: it has ended.
  next_at timestamptz,
  ended text check (ended in ('unsubscribed', 'disabled', 'no-right')),
  check ((next_at is null) = (ended is not null))
);
create index report_schedules_next on report_schedules (next_at) where next_at is not null;

-- One mail for each report and day on which it is due.
create table report_mails (
  saved_report_id text not null references saved_reports on delete cascade,
  day date not null,
  -- The report is as of this moment.
  due_at timestamptz not null,
  -- `unknown`: the process died, or the connection was lost, while the mail server took it; it is not sent again.
  state text not null check (state in ('waiting', 'sending', 'sent', 'failed', 'unknown')),
  -- When a node may take it, or take it over; null: it has ended.
  try_at timestamptz,
  attempts integer not null default 0,
  error text,
  -- SHA-256 of the token in its link that ends the schedule.
  token_hash bytea unique,
  primary key (saved_report_id, day)
);
create index report_mails_due on report_mails (try_at) where try_at is not null;
