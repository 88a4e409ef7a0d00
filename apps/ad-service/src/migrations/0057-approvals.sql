-- Money that a second person approves. Versions before would record it without, and do not start on this schema.
alter table deployment
  -- Null: nothing needs an approval.
  add column approval_above_micros bigint,
  add constraint deployment_approval_above_micros_check check (approval_above_micros >= 0) not valid;

create table money_requests (
  request_id text primary key check (request_id ~ '^mrq_[0-9A-Za-z]{1,60}$'),
  operation text not null check (operation in ('setTerms', 'recordTopUp', 'correctAdvertiser', 'correctPublisher', 'creditHeldPayment', 'recordPayout',
    'payAll', 'setApprovalAmount')),
  -- An advertiser, a bot or a month.
  object_id text not null,
  -- All values: `requested` of `money-requests.ts` in packages/operator-api.
  requested jsonb not null check (jsonb_typeof(requested) = 'object'),
  -- What was compared with the setting. Null: a credit without a limit, or the setting itself.
  amount_micros bigint check (amount_micros > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- Of one key, one request waits. A caller's own key stays with what it asked for.
  request_key text not null check (length(request_key) between 1 and 256),
  is_callers_key boolean not null,
  -- Null: the command line, for which two persons approve.
  requested_by text references people,
  requested_by_name text,
  requested_at timestamptz not null default now(),
  seconded_by text references people,
  seconded_by_name text,
  state text not null default 'waiting' check (state in ('waiting', 'approved', 'refused', 'withdrawn')),
  -- Null: the command line, which refuses and withdraws alone.
  decided_by text references people,
  decided_by_name text,
  decided_at timestamptz,
  reason text check (length(reason) between 1 and 500),
  check ((state = 'waiting') = (decided_at is null)),
  check ((state in ('refused', 'withdrawn')) = (reason is not null)),
  -- Two persons stand behind what was done.
  check (requested_by is null or seconded_by is null),
  check (state <> 'approved' or coalesce(decided_by <> coalesce(requested_by, seconded_by), false))
);
create unique index money_requests_of_waiting_key on money_requests (request_key) where state = 'waiting';
create index money_requests_of_key on money_requests (request_key, requested_at);
create index money_requests_by_time on money_requests (requested_at, request_id);
create index money_requests_waiting on money_requests (requested_at, request_id) where state = 'waiting';

alter table alert_conditions drop constraint alert_conditions_cause_check;
alter table alert_conditions add constraint alert_conditions_cause_check check (cause in ('money-low', 'budget-spent',
  'fill-fallen', 'bids-fallen', 'webhooks-failing', 'videos-waiting', 'campaigns-waiting', 'money-waiting', 'views-held',
  'payout-due')) not valid;
alter table alerts drop constraint alerts_cause_check;
alter table alerts add constraint alerts_cause_check check (cause in ('money-low', 'budget-spent', 'fill-fallen', 'bids-fallen',
  'webhooks-failing', 'videos-waiting', 'campaigns-waiting', 'campaign-approved', 'campaign-refused', 'money-waiting',
  'approvals-changed', 'views-held', 'payout-due', 'new-device')) not valid;
