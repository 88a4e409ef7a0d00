-- Campaigns that advertisers draft: they run once an operator has approved them.
alter table campaigns
  -- Null: the operator's own.
  add column review text,
  add column review_reason text,
  -- The last time.
  add column submitted_at timestamptz,
  -- The last time. From the first one on, the advertiser only raises the prices.
  add column approved_at timestamptz,
  add constraint campaigns_review_check check (review in ('draft', 'waiting', 'approved', 'refused')) not valid,
  add constraint campaigns_review_reason_check check (length(review_reason) between 1 and 500) not valid,
  add constraint campaigns_refused_check
    check ((review is not distinct from 'refused') = (review_reason is not null)) not valid,
  add constraint campaigns_approved_check check (status <> 'active' or review is null or review = 'approved') not valid,
  drop constraint campaigns_paused_by_check,
  add constraint campaigns_paused_by_check check (paused_by in ('operator', 'advertiser', 'review')) not valid;

alter table alert_conditions drop constraint alert_conditions_cause_check;
alter table alert_conditions add constraint alert_conditions_cause_check check (cause in ('money-low', 'budget-spent',
  'fill-fallen', 'bids-fallen', 'webhooks-failing', 'videos-waiting', 'campaigns-waiting', 'views-held', 'payout-due')) not valid;
alter table alerts drop constraint alerts_cause_check;
alter table alerts add constraint alerts_cause_check check (cause in ('money-low', 'budget-spent', 'fill-fallen', 'bids-fallen',
  'webhooks-failing', 'videos-waiting', 'campaigns-waiting', 'campaign-approved', 'campaign-refused', 'views-held', 'payout-due',
  'new-device')) not valid;
